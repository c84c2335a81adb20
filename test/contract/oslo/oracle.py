"""Answers cases with the real oslo.config: a JSON list on stdin, a JSON list on stdout, same order.

parse       {text}                          -> {sections} or {error, line}
substitute  {text, options, section, key}   -> {value} or {error}
type        {shape, value}                  -> {ok}
layers      {files, options}                -> {values: [[group, name, value or list or null]]}
data        {name, data}                    -> {}      the generator's output, for validate
validate    {text, name}                    -> {unknown: [[group, name]]}   (oslo-config-validator)
"""

import json
import os
import sys
import tempfile
import warnings

from oslo_config import cfg
from oslo_config import types
from oslo_config import validator

warnings.simplefilter('ignore')
folder = tempfile.mkdtemp(prefix='oslo-oracle-')


def save(text, name='case.conf'):
    path = os.path.join(folder, name)
    with open(path, 'wb') as file:
        file.write(text.encode('utf-8'))
    return path


def parse(case):
    sections = {}
    parser = cfg.ConfigParser(save(case['text']), sections)
    try:
        parser.parse()
    except cfg.ParseError as error:
        return {'error': error.msg, 'line': error.lineno}
    return {'sections': sections}


def register(conf, options):
    for group, name, multi, old in options:
        kind = cfg.MultiStrOpt if multi else cfg.StrOpt
        deprecated = [cfg.DeprecatedOpt(n, group=g) for g, n in old]
        opt = kind(name, deprecated_opts=deprecated)
        conf.register_opt(opt, group=None if group == 'DEFAULT' else group)


def load(texts, options):
    conf = cfg.ConfigOpts()
    paths = [save(text, f'{index:02}.conf') for index, text in enumerate(texts)]
    register(conf, options)
    conf([], project='none', default_config_files=paths, default_config_dirs=[])
    return conf


def get(conf, group, name):
    return conf[name] if group == 'DEFAULT' else conf[group][name]


def substitute(case):
    conf = load([case['text']], case['options'])
    try:
        return {'value': get(conf, case['section'], case['key'])}
    except Exception as error:
        return {'error': type(error).__name__}


def check(case):
    shape = case['shape']
    limits = {k: shape[k] for k in ('min', 'max', 'choices') if k in shape}
    kind = {
        'bool': types.Boolean, 'int': types.Integer, 'float': types.Float,
        'port': types.Port, 'str': types.String, 'dict': types.Dict,
        'uri': types.URI, 'IP address value': types.IPAddress,
        'host': types.HostAddress, 'hostdomain': types.HostDomain,
    }[shape['t']]
    try:
        kind(**limits)(case['value'])
    except ValueError:
        return {'ok': False}
    return {'ok': True}


def layers(case):
    conf = load(case['files'], case['options'])
    return {'values': [[g, n, get(conf, g, n)] for g, n, _, _ in case['options']]}


data = {}


def keep(case):
    data[case['name']] = case['data']
    return {}


def validate(case):
    conf = cfg.ConfigOpts()
    validator._register_cli_opts(conf)
    conf(['--opt-data', 'kept in memory', '--input-file', save(case['text'])])
    unknown = []

    def note(message, *args):
        if 'is not part of the sample config' in message:
            unknown.append([args[0], args[1]])

    validator.load_opt_data = lambda _: data[case['name']]
    validator.LOG.error = note
    validator._validate(conf)
    return {'unknown': unknown}


answers = {
    'parse': parse, 'substitute': substitute, 'type': check, 'layers': layers,
    'data': keep, 'validate': validate,
}
json.dump([answers[case['kind']](case) for case in json.load(sys.stdin)], sys.stdout)
