"""Every option that a release's services list for oslo-config-generator, reduced to what a linter needs.

stdin:  {file: [namespace]}
stdout: {file: {"groups": {group: {"o": {name: option}}}, "renamed": {group: {old name: [group, name]}}}}

Run by the Python of a virtualenv that has the services; lab/oslo/tables.ts describes the options.
"""

import json
import sys
import warnings

warnings.simplefilter('ignore')

from apart import apart  # noqa: E402
from oslo_config import generator  # noqa: E402

# Names of the generator; a type that is not here keeps the generator's.
TYPES = {
    'string value': 'str',
    'integer value': 'int',
    'floating point value': 'float',
    'boolean value': 'bool',
    'port value': 'port',
    'list value': 'list',
    'dict value': 'dict',
    'multi valued': 'multi',
    'uri value': 'uri',
    'host address value': 'host',
    'host domain value': 'hostdomain',
    'unknown value': 'any',
}


def shape(option, entry):
    kept = {'t': TYPES.get(entry['type'], entry['type'])}
    # Where the default depends on the host, upstream gives an example of it instead.
    if option.sample_default is None and isinstance(option.default, (str, int, float)):
        kept['d'] = option.default
    if entry['choices']:
        kept['choices'] = [choice for choice, _ in entry['choices']]
    kept.update({bound: entry[bound] for bound in ('min', 'max') if entry[bound] is not None})
    kept.update({flag: True for flag in ('secret', 'mutable', 'required') if getattr(option, flag)})
    # Of an option that may be given several times the type is then that of one item.
    if option.multi and kept['t'] != 'multi':
        kept['multi'] = True
    if option.deprecated_for_removal:
        kept['dep'] = option.deprecated_since or True
    return kept


def table(namespaces):
    groups, renamed = {}, {}
    # Entry points come in the order of a folder, which differs between machines; of two descriptions the first is kept.
    listed = sorted(generator._list_opts(namespaces), key=lambda one: namespaces.index(one[0]))
    for group, held in sorted(generator._get_groups(listed).items()):
        for namespace, options in held['namespaces']:
            for option in options:
                entry = generator._build_entry(option, group, namespace, None)
                groups.setdefault(group, {'o': {}})['o'].setdefault(option.dest, shape(option, entry))
                for old in entry['deprecated_opts']:
                    name = old['name'].replace('-', '_')
                    renamed.setdefault(old['group'], {}).setdefault(name, [group, option.dest])
    return {'groups': groups, 'renamed': renamed}


if __name__ == '__main__':
    files = json.load(sys.stdin)
    json.dump({file: apart(lambda: table(names)) for file, names in sorted(files.items())}, sys.stdout)
