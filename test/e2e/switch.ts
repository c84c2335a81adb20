import { tryKubectl } from '../../lab/kubectl.ts';
import { OVN_RUN, VSWITCHD_CTL } from '../../src/services/ovn/scripts.ts';

/** Pods of the nodes, with OVS and ovn-controller in them. */
const NODE = /^ovn-(controller|gateway)-/;
const CONTROLLER = `ovn-appctl -t $(ls ${OVN_RUN}/ovn-controller.*.ctl)`;
const SOUTHBOUND = `ovn-sbctl --no-leader-only --db=unix:${OVN_RUN}/ovnsb_db.sock`;

/** Commands by pod and container. */
const COMMANDS: readonly (readonly [RegExp, string, readonly string[]])[] = [
  [
    NODE,
    'ovs-vswitchd',
    [
      'ovs-vsctl show',
      'ovs-vsctl --columns=name,ofport,external_ids,error,statistics list Interface',
      'ovs-ofctl dump-flows br-int | grep -E "controller\\(|table=0," | cut -c1-300',
      `ovs-appctl -t ${VSWITCHD_CTL} dpif/show`,
      `ovs-appctl -t ${VSWITCHD_CTL} dpctl/dump-flows | cut -c1-300`,
    ],
  ],
  [NODE, 'ovn-controller', ['connection-status', 'ct-zone-list', 'coverage/show'].map(each => `${CONTROLLER} ${each}`)],
  [
    /^ovn-sb-0$/,
    'ovn-sb',
    [`${SOUTHBOUND} list Port_Binding`, `${SOUTHBOUND} lflow-list | grep -i dhcp | cut -c1-300`],
  ],
];

async function exec(namespace: string, pod: string, container: string, script: string): Promise<string> {
  const { code, stdout, stderr } = await tryKubectl([
    '-n',
    namespace,
    'exec',
    pod,
    '-c',
    container,
    '--',
    'sh',
    '-c',
    script,
  ]);
  return `# ${pod} ${container}: ${script}${code === 0 ? '' : ` (exit code ${code})`}\n${stdout}${stderr}`;
}

async function podsIn(namespace: string): Promise<readonly string[]> {
  const { stdout } = await tryKubectl(['-n', namespace, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']);
  return stdout.split(' ');
}

/** State of OVS and OVN, for a guest that got no address. */
export async function switchState(namespace: string): Promise<string> {
  const found: string[] = [];
  for (const pod of await podsIn(namespace))
    for (const [name, container, scripts] of COMMANDS)
      if (name.test(pod)) for (const script of scripts) found.push(await exec(namespace, pod, container, script));
  return found.join('\n');
}

/** Has ovn-controller compute all flows again: a guest that gets its address after that had lost some of them. */
export async function recompute(namespace: string): Promise<string> {
  const nodes = (await podsIn(namespace)).filter(pod => NODE.test(pod));
  const answers = nodes.map(pod => exec(namespace, pod, 'ovn-controller', `${CONTROLLER} inc-engine/recompute`));
  return (await Promise.all(answers)).join('\n');
}
