"""What oslo-config-validator says about many texts, and which of their values the options themselves refuse.

stdin:  {"namespaces": {service: [namespace]}, "cases": [{"service", "text"}]}
stdout: {"verdicts": [{"unknown": [[group, name]], "deprecated": [[group, name]], "refused": [[group, name]]}], same order,
         "known": {service: [[group, name]]}}

The validator is the real one. Only the list of options, which takes seconds to gather, is made once per service and
handed to it as it would read it from --opt-data.
"""

import json
import logging
import re
import sys
import tempfile
import warnings

warnings.simplefilter('ignore')

from oslo_config import cfg  # noqa: E402
from oslo_config import generator  # noqa: E402
from oslo_config import validator  # noqa: E402

import read  # noqa: E402

work = json.load(sys.stdin)
folder = tempfile.mkdtemp(prefix='validate-')


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


log = Lines()
logging.getLogger().handlers = [log]
logging.getLogger().setLevel(logging.INFO)


def gather(namespaces):
    listed = generator._list_opts(namespaces)
    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    conf(['--namespace', namespaces[0]])
    data = generator._generate_machine_readable_data(generator._get_groups(listed), conf)
    options = {}
    for _, groups in listed:
        for group, members in groups:
            name = getattr(group, 'name', group) or 'DEFAULT'
            for option in members:
                options.setdefault((name, option.dest), option)
                for old in option.deprecated_opts:
                    options.setdefault((old.group or name, (old.name or option.dest).replace('-', '_')), option)
    return data, options


def found(pattern, lines):
    hits = [re.fullmatch(pattern, line) for line in lines]
    return [[hit.group(1), hit.group(2)] for hit in hits if hit]


def refused(options, path):
    sections = {}
    cfg.ConfigParser(path, sections).parse()
    for group, values in sections.items():
        for name, texts in values.items():
            option = options.get((group, name))
            if option is None:
                continue
            for text in texts if option.multi else texts[-1:]:
                try:
                    option.type(text)
                except ValueError:
                    yield [group, name]
                    break



def judge(case, data, options):
    path = '%s/case.conf' % folder
    with open(path, 'w', encoding='utf-8') as out:
        out.write(case['text'])
    validator.load_opt_data = lambda conf: data
    conf = cfg.ConfigOpts()
    validator._register_cli_opts(conf)
    conf(['--opt-data', 'given', '--input-file', path])
    log.lines = []
    validator._validate(conf)
    return {
        'unknown': found(r'(\S+)/(\S+) is not part of the sample config', log.lines),
        'deprecated': found(r'Deprecated opt (\S+)/(\S+) found', log.lines),
        'refused': list(refused(options, path)),
    }


def of_service(service, cases):
    data, options = gather(work['namespaces'][service])
    known = [[group, option['dest']] for group, held in data['options'].items() for option in held['opts']]
    return known, [judge(case, data, options) for case in cases]


answers, known = {}, {}
for service in sorted(work['namespaces']):
    mine = [index for index, case in enumerate(work['cases']) if case['service'] == service]
    # Apart: two services register options of the same name on one object for all.
    known[service], found_of = read.apart(lambda: of_service(service, [work['cases'][index] for index in mine]))
    answers.update(zip(mine, found_of))
json.dump({'verdicts': [answers[index] for index in range(len(work['cases']))], 'known': known}, sys.stdout)
