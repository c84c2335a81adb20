"""Whether the real oslo.config takes each option from where somebody claims it does.

stdin:  [{"service", "files": [{"name", "text"}], "claims": [{"written": [group, name], "now": [group, name],
          "file", "values"}]}]
stdout: [{"agreed": number, "wrong": [[group, name, what]]}], same order.

The files lie in one folder, which oslo reads as a service does (--config-dir). Of an option that may be given once the
file is compared too; of one that accumulates the values are, each in its place.
"""

import json
import os
import sys
import tempfile

from oslo_config import cfg

import read


def current(conf, group, name):
    """The name under which the service registers what a file calls `group`/`name`; the name itself if it has one."""
    if read.find(conf, group, name) is not None:
        return group, name
    known = [('DEFAULT', conf._opts)] + [(g, conf._groups[g]._opts) for g in conf._groups]
    for place, options in known:
        for dest, entry in options.items():
            for old in entry['opt'].deprecated_opts:
                if (old.group or place).lower() == group.lower() and (old.name or dest).replace('-', '_') == name:
                    return place, dest
    return None


def judge(conf, claim, paths):
    group, name = claim['written']
    now = current(conf, group, name)
    if now is None:
        return 'is no option of this service'
    place, dest = now
    if [place.lower(), dest] != [claim['now'][0].lower(), claim['now'][1]]:
        return 'is [%s] %s to oslo' % now
    option = read.find(conf, place, dest)
    real = None if place == 'DEFAULT' else conf._get_group(next(
        g for g in read.groups(conf, place) if dest in conf._groups[g]._opts))
    value, _ = conf._do_get(dest, real)
    texts = claim['values'] if option.multi else claim['values'][-1]
    claimed = conf._convert_value(conf._substitute(texts, real), option)
    if claimed != value:
        return 'has another value to oslo'
    if not option.multi:
        setters = [os.path.basename(path) for path in paths if sets(conf, option, place, path)]
        if setters[-1:] != [claim['file']]:
            return 'comes from %s to oslo, not from %s' % (setters, claim['file'])
    return None


def sets(conf, option, place, path):
    """Whether oslo finds the option, by whatever name, in this file alone. Its own LocationInfo names the last file
    that has the section, whether or not the option is in it."""
    namespace = cfg._Namespace(conf)
    cfg.ConfigParser._parse_file(path, namespace)
    try:
        option._get_from_namespace(namespace, None if place == 'DEFAULT' else place)
    except KeyError:
        return False
    return True


def check(case, conf):
    folder = tempfile.mkdtemp(prefix='where-')
    paths = []
    for file in case['files']:
        path = os.path.join(folder, file['name'])
        with open(path, 'w', encoding='utf-8') as out:
            out.write(file['text'])
        paths.append(path)
    conf([], project='none', default_config_files=[], default_config_dirs=[folder])
    read.load_plugins(conf, case['service'], read.sections_of(sorted(paths)))
    verdicts = [(claim['written'], judge(conf, claim, sorted(paths))) for claim in case['claims']]
    wrong = [[group, name, what] for (group, name), what in verdicts if what]
    return {'agreed': len(verdicts) - len(wrong), 'wrong': wrong}


def guarded(case, conf):
    try:
        return check(case, conf)
    except Exception as error:
        return {'agreed': 0, 'wrong': [['', '', '%s: %s' % (type(error).__name__, error)]]}


def of_service(service, cases):
    conf, namespaces = getattr(read, service.replace('-', '_'))()
    read.register_libraries(conf, namespaces)
    return [read.apart(lambda: guarded(case, conf)) for case in cases]


if __name__ == '__main__':
    everything = json.load(sys.stdin)
    answers = {}
    for service in sorted({case['service'] for case in everything}):
        mine = [index for index, case in enumerate(everything) if case['service'] == service]
        found = read.apart(lambda: of_service(service, [everything[index] for index in mine]))
        answers.update(zip(mine, found))
    json.dump([answers[index] for index in range(len(everything))], sys.stdout)
