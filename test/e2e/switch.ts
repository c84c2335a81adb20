import { tryKubectl } from '../../lab/kubectl.ts';

/** Asked of the containers of a node's pod, and of the southbound database. */
const QUESTIONS: readonly (readonly [RegExp, string, string])[] = [
  [
    /^ovn-(controller|gateway)-/,
    'ovs-vswitchd',
    'ovs-vsctl show; ovs-vsctl --columns=name,ofport,external_ids,error,statistics list Interface',
  ],
  [
    /^ovn-(controller|gateway)-/,
    'ovs-vswitchd',
    'ovs-ofctl dump-flows br-int | grep -E "controller\\(|table=0," | cut -c1-300',
  ],
  [
    /^ovn-(controller|gateway)-/,
    'ovs-vswitchd',
    'ovs-appctl -t /run/openvswitch/ovs-vswitchd.ctl dpif/show; ovs-appctl -t /run/openvswitch/ovs-vswitchd.ctl dpctl/dump-flows | cut -c1-300',
  ],
  [
    /^ovn-(controller|gateway)-/,
    'ovn-controller',
    'c=$(ls /run/ovn/ovn-controller.*.ctl); ovn-appctl -t $c connection-status; ovn-appctl -t $c ct-zone-list; ovn-appctl -t $c coverage/show',
  ],
  [
    /^ovn-sb-0$/,
    'ovn-sb',
    'ovn-sbctl --no-leader-only --db=unix:/run/ovn/ovnsb_db.sock list Port_Binding; ovn-sbctl --no-leader-only --db=unix:/run/ovn/ovnsb_db.sock lflow-list | grep -i dhcp | cut -c1-300',
  ],
];

const inside = (namespace: string, pod: string, container: string, script: string) =>
  tryKubectl(['-n', namespace, 'exec', pod, '-c', container, '--', 'sh', '-c', script]);

async function podsIn(namespace: string): Promise<readonly string[]> {
  const { stdout } = await tryKubectl(['-n', namespace, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']);
  return stdout.split(' ');
}

/** What switch and OVN know, for a guest that got no address. */
export async function switchState(namespace: string): Promise<string> {
  const found: string[] = [];
  for (const pod of await podsIn(namespace))
    for (const [name, container, script] of QUESTIONS) {
      if (!name.test(pod)) continue;
      const { stdout, stderr } = await inside(namespace, pod, container, script);
      found.push(`# ${pod} ${container}: ${script}\n${stdout}${stderr}`);
    }
  return found.join('\n');
}

/** Tells ovn-controller to work out all flows anew: a guest that gets its address after that had lost some of them. */
export async function recompute(namespace: string): Promise<void> {
  for (const pod of await podsIn(namespace))
    if (/^ovn-(controller|gateway)-/.test(pod))
      await inside(
        namespace,
        pod,
        'ovn-controller',
        'ovn-appctl -t $(ls /run/ovn/ovn-controller.*.ctl) inc-engine/recompute',
      );
}
