"""Reads config files as a service does, and says for every option in them what the service sees.

stdin:  [{"service": "nova", "files": [{"path", "text"}]}]
stdout: [{"options": [[group, name, written, read]], "problems": [[group, name, what]]}], same order.

Options are registered by the service's own modules and by the libraries it uses (their `oslo.config.opts` entry
points), plugins by loading them; then every `key = value` of the files must be an option under that very name, and
its value, brought back to the text that we write for such a value, must be the text that we wrote.
"""

import importlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
import warnings

warnings.simplefilter('ignore')

sys.path.append(os.path.join(os.path.dirname(__file__), '../../lab/oslo'))

from apart import apart  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_config import types  # noqa: E402

COMMON = ['oslo.log', 'oslo.concurrency', 'oslo.policy', 'oslo.middleware', 'oslo.db', 'oslo.messaging', 'oslo.cache',
          'keystonemiddleware.auth_token']


def keystone():
    import keystone.conf
    keystone.conf.configure()
    return keystone.conf.CONF, COMMON[:-1]


def placement():
    import placement.conf
    conf = cfg.ConfigOpts()
    placement.conf.register_opts(conf)
    return conf, ['oslo.log', 'oslo.policy', 'oslo.middleware', 'keystonemiddleware.auth_token']


def glance():
    import glance.common.config
    importlib.import_module('glance.common.wsgi')
    return cfg.CONF, COMMON + ['glance.api']


def nova():
    import nova.conf
    import os_vif
    # Registers the options of its plugins.
    os_vif.initialize()
    # Registered when a daemon is launched.
    return nova.conf.CONF, COMMON + ['oslo.service.service']


def neutron():
    from neutron.common import config
    config.register_common_config_options()
    from neutron.conf.plugins.ml2 import config as ml2
    from neutron.conf.plugins.ml2.drivers import driver_type
    from neutron.conf.plugins.ml2.drivers.ovn import ovn_conf
    ml2.register_ml2_plugin_opts()
    for register in [name for name in dir(driver_type) if name.startswith('register_')]:
        getattr(driver_type, register)()
    ovn_conf.register_opts()
    importlib.import_module('neutron.conf.agent.securitygroups_rpc').register_securitygroups_opts()
    return cfg.CONF, COMMON + ['neutron', 'nova.auth', 'placement.auth']


def neutron_ovn_agent():
    from neutron.conf import common
    from neutron.conf.agent.ovn.ovn_neutron_agent import config
    common.register_core_common_config_opts()
    config.register_opts()
    importlib.import_module('neutron.agent.ovn.extensions.metadata')
    return cfg.CONF, ['oslo.log', 'oslo.concurrency', 'neutron.base.agent', 'neutron.ml2.ovn.agent', 'neutron.agent']


def names(group):
    return group.name if isinstance(group, cfg.OptGroup) else group or 'DEFAULT'


def register_libraries(conf, namespaces):
    for point in importlib.metadata.entry_points(group='oslo.config.opts'):
        if point.name not in namespaces:
            continue
        for group, options in point.load()():
            for option in options:
                if find(conf, names(group), option.dest) is None:
                    where = None if names(group) == 'DEFAULT' else names(group)
                    conf.register_opt(option, group=where)


def groups(conf, name):
    """Group names are compared without case, as oslo.config does when it reads a file; [agent] and [AGENT] are one."""
    return [known for known in conf._groups if known.lower() == name.lower()]


def holder(conf, group, name):
    known = [conf._opts] if group == 'DEFAULT' else [conf._groups[g]._opts for g in groups(conf, group)]
    return next((options for options in known if name in options), None)


def find(conf, group, name):
    options = holder(conf, group, name)
    return options and options[name]['opt']


def value(conf, group, name):
    if group == 'DEFAULT':
        return conf[name]
    return conf[next(g for g in groups(conf, group) if name in conf._groups[g]._opts)][name]


def expected(conf, written):
    """`$name` stands for another option, `$$` for a dollar."""
    def replace(match):
        if match.group(0) == '$$':
            return '$'
        return text(find(conf, 'DEFAULT', match.group(1)), conf[match.group(1)])
    return re.sub(r'\$\$|\$(\w+)', replace, written)


def load_plugins(conf, service, sections):
    """What a service registers only when it uses it."""
    from keystoneauth1 import loading
    for group, options in sections.items():
        if 'auth_type' in options:
            # Registers the plugin's options and makes it from them, as the first request would.
            loading.load_auth_from_conf_options(conf, group)
    if service == 'glance':
        import glance_store
        glance_store.register_store_opts(conf, reserved_stores={
            'os_glance_staging_store': 'file', 'os_glance_tasks_store': 'file'})


def text(option, value):
    """The text that we write for such a value."""
    if value is None:
        return None
    kind = option.type
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, dict):
        return ','.join(f'{k}:{v}' for k, v in value.items())
    if isinstance(value, (list, tuple)):
        joined = ','.join(str(item) for item in value)
        return f'[{joined}]' if isinstance(kind, types.List) and kind.bounds else joined
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def sections_of(paths):
    sections = {}
    for path in paths:
        parsed = {}
        cfg.ConfigParser(path, parsed).parse()
        for group, options in parsed.items():
            sections.setdefault(group, {}).update(options)
    return sections


def read(case, conf):
    folder = tempfile.mkdtemp(prefix='options-')
    paths = []
    for index, file in enumerate(case['files']):
        path = os.path.join(folder, f'{index:02}.conf')
        with open(path, 'w', encoding='utf-8') as out:
            out.write(file['text'])
        paths.append(path)
    sections = sections_of(paths)
    conf([], project='none', default_config_files=paths, default_config_dirs=[])
    load_plugins(conf, case['service'], sections)
    options, problems = [], []
    for group, written in sections.items():
        for name, values in written.items():
            option = find(conf, group, name)
            if option is None:
                problems.append([group, name, 'is no option of this service under this name'])
                continue
            if option.deprecated_for_removal:
                problems.append([group, name, 'is deprecated for removal'])
            try:
                got = text(option, value(conf, group, name))
            except Exception as error:
                problems.append([group, name, f'{type(error).__name__}: {error}'[:300]])
                continue
            options.append([group, name, expected(conf, values[-1]), got])
    return {'options': options, 'problems': problems}


def guarded(case, conf):
    try:
        return read(case, conf)
    except Exception as error:
        return {'options': [], 'problems': [['', '', f'{type(error).__name__}: {error}']]}


def of_service(service, cases):
    conf, namespaces = globals()[service.replace('-', '_')]()
    register_libraries(conf, namespaces)
    return [apart(lambda: guarded(case, conf)) for case in cases]


if __name__ == '__main__':
    everything = json.load(sys.stdin)
    answers = {}
    for service in sorted({case['service'] for case in everything}):
        mine = [index for index, case in enumerate(everything) if case['service'] == service]
        found = apart(lambda: of_service(service, [everything[index] for index in mine]))
        answers.update(zip(mine, found))
    json.dump([answers[index] for index in range(len(everything))], sys.stdout)
