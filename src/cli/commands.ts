import type { CommandSpec } from './commands/command.ts';

/** Every command that looks at a cloud. Each is loaded when somebody asks for it: the operator's process stays small. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'status',
    summary: 'one screen per cloud: services, pods, what is rolling and how long it may take',
    about: 'Exit code 1 when a cloud is not ready, or when there is none.',
    examples: [
      ['-n openstack', 'the cloud in that namespace'],
      ['-A --watch', 'all clouds, again and again'],
      ['-o json | jq .clouds[0].eta', 'for programs'],
      ['--embedded', 'on a cloud that lives in this process for as long as it takes'],
    ],
    reads: 'workloads',
    watch: true,
    run: async cx => (await import('./commands/status.ts')).status(cx),
  },
  {
    name: 'tree',
    summary: 'control plane, kinds, workloads and pods as a tree; only trouble is expanded',
    about: 'Equal siblings are one line. Exit code 1 when something at the top is not ready.',
    flags: [['--expand', 'show everything']],
    examples: [
      ['-n openstack', 'what is wrong, and where'],
      ['-n openstack --expand', 'every pod'],
    ],
    reads: 'pods',
    watch: true,
    run: async cx => (await import('./commands/tree.ts')).tree(cx),
  },
  {
    name: 'why',
    args: '[object]',
    summary: 'why something is not ready: the root cause, who must act, and the next command',
    about:
      'Causes that stand by themselves are listed one by one, with what is not ready because of them. A deletion that does\nnot come to an end is explained too. Exit code 1 when there is a cause.',
    examples: [
      ['-n openstack', 'everything that is wrong'],
      ['keystone/keystone -n openstack', 'what keeps one object'],
      ['-A -o json', 'for programs'],
      ['--from bundle/', 'from objects that somebody sent you'],
    ],
    reads: 'look',
    watch: true,
    run: async cx => (await import('./commands/why.ts')).why(cx),
  },
  {
    name: 'lint',
    summary: 'checks config texts against the option tables of the release',
    about:
      'Unknown sections and options with a guess at what was meant, types, ranges, choices, renamed and deprecated names,\noptions that the operator sets, secrets in plain text, traps of the format, and fields that would give pods rights on\nthe node. Exit code 1 when there is an error.',
    flags: [
      [
        '-f, --file <file>',
        'objects (file or folder), the text of one service (.conf, - for standard input), or: cluster',
      ],
      ['--release <release>', 'check as if this release ran; else that of the object'],
      ['--service <name>', 'whose text a .conf file is: nova, neutron, ml2_conf ...'],
      ['--strict', 'warnings count as errors'],
      ['--allow-host-access', 'as with an operator that was started so: pods may get rights on the node'],
    ],
    examples: [
      ['-f cloud.yaml', 'before you apply it'],
      ['-f cloud.yaml --release 2026.1', 'before you upgrade'],
      ['-f nova.conf --service nova', 'a snippet'],
      ['-f cluster -n openstack', 'what runs, generated files included'],
    ],
    reads: 'whole',
    run: async cx => (await import('./commands/lint.ts')).lint(cx),
  },
  {
    name: 'trace',
    args: '<object> <option...>',
    summary: 'the journey of one option: who set it, who lost, which Secret holds it, which pods run it',
    about:
      'The option may have its group before it. Without a group every group is shown in which somebody sets it.\nSecret values are hidden unless --reveal. Exit code 1 when a pod runs another value than the current one.',
    flags: [
      ['--pod <name>', 'only this pod'],
      ['--node <name>', 'to this host outside the cluster, in the twelve hops of the data plane'],
      ['--reveal', 'show secret values'],
    ],
    examples: [
      ['keystone debug -n openstack', 'in whatever group it is'],
      ['nova libvirt cpu_models -n openstack', 'in every process of Nova'],
      ['neutron DEFAULT transport_url --reveal', 'with its password'],
      ['nova libvirt cpu_models --node compute-0', 'how it reaches a hypervisor'],
    ],
    reads: 'whole',
    run: async cx => (await import('./commands/trace.ts')).trace(cx),
  },
  {
    name: 'render',
    summary: 'what the operator would make of a file, without a cluster: objects, config files, or all as Jobs',
    about:
      'The operator is run in this process on an embedded cluster, and what it sends is printed. Passwords are made anew\nfor each run, unless --keep names an earlier output, and hidden unless --reveal: what is shown without it is for\nreading, and the API server refuses its Secrets. With --as jobs databases, users and the catalog come as Jobs too:\nkubectl apply of it makes a cloud on a cluster without the operator, so it needs --reveal.\nExit code 1 when it does not end well.',
    flags: [
      ['-f, --file <file>', 'the objects: a file, a folder, or - for standard input'],
      ['-n, --namespace <name>', 'where they would be', 'openstack'],
      ['--service <name>', 'only what is made for it: nova, Keystone ...'],
      ['--as <what>', 'objects, config or jobs', 'objects'],
      ['--keep <file>', 'an earlier output with --reveal, whose passwords and keys stay as they are'],
      ['--reveal', 'with passwords, for kubectl apply: keep the output as you keep passwords'],
    ],
    examples: [
      ['-f cloud.yaml', 'every Secret, Service, Job and workload as YAML'],
      ['-f cloud.yaml --service nova --as config', "Nova's config files"],
      ['-f cloud.yaml --as jobs --reveal | kubectl apply -f -', 'a cloud without an operator'],
      ['-f cloud.yaml -o json', 'a List for programs'],
    ],
    reads: 'none',
    run: async cx => (await import('./commands/render.ts')).render(cx),
  },
  {
    name: 'plan',
    summary: 'what an edit would do: objects, restarts and their order, schema syncs, warnings; nothing is changed',
    about:
      'The operator itself is run on a copy of the objects in this process, first as they are and then with the edit.\nExit code 1 when the edit does not end well, when the cluster refuses it, or for what --fail-on names.',
    flags: [
      ['-f, --file <file>', 'what you would apply: a file, a folder, or - for standard input'],
      ['--delete', 'what you would delete, instead'],
      ['--operator', 'what this version of the operator would change without any edit'],
      ['--fail-on <what>', 'restart or delete: exit code 1 when there is one'],
    ],
    examples: [
      ['-f cloud.yaml -n openstack', 'before you apply it'],
      ['-f cloud.yaml --fail-on restart', 'in CI'],
      ['--operator -n openstack', 'before you upgrade the operator'],
      ['-f cloud.yaml --from bundle/', 'without a cluster'],
    ],
    reads: 'whole',
    run: async cx => (await import('./commands/plan.ts')).plan(cx),
  },
  {
    name: 'events',
    args: '[object]',
    summary: 'events in the order of time, of everything or of one object and what is below it',
    about: 'Passwords in them are masked.',
    flags: [['--warnings', 'only warnings']],
    examples: [
      ['-n openstack --warnings', 'what went wrong'],
      ['keystone/keystone -n openstack', 'of Keystone, its Jobs and its pods'],
    ],
    reads: 'look',
    watch: true,
    run: async cx => (await import('./commands/events.ts')).events(cx),
  },
  {
    name: 'logs',
    args: '<object>',
    summary: 'log lines of all containers below an object, in the order of time',
    about:
      'Passwords in them are masked. With --follow new lines are added as they come, of all containers, also of pods that\ncome later; with --watch the last lines are shown again and again.',
    flags: [
      ['--lines <number>', 'of each container', '20'],
      ['-c, --container <name>', 'only this one'],
      ['--previous', 'of the containers before the last restart'],
    ],
    examples: [
      ['nova -n openstack', 'the last lines of every process of Nova'],
      ['keystone -c keystone --lines 100', 'more of one container'],
      ['nova -n openstack --follow', 'while it rolls'],
    ],
    reads: 'look',
    watch: true,
    follow: async (cx, out, clock) => (await import('./commands/logs.ts')).follow(cx, out, clock),
    run: async cx => (await import('./commands/logs.ts')).logs(cx),
  },
  {
    name: 'ui',
    summary: 'all of this as a page in the browser: topology, roll-out, causes, config, plans; read-only',
    about:
      'The page is served on 127.0.0.1 by this program, which reads the cluster as you: it shows what you may see, to this\nmachine only, and never a secret value.',
    flags: [
      ['--port <port>', 'of 127.0.0.1; 0 chooses a free one', '0'],
      ['--for <seconds>', 'end after that long; else on Ctrl-C'],
    ],
    examples: [
      ['-n openstack', 'follow the cloud in that namespace'],
      ['-A --port 8090', 'all clouds, always at the same address'],
      ['--from bundle/', 'look at objects that somebody sent you'],
      ['--embedded cloud.yaml', 'what would become of a file'],
    ],
    reads: 'look',
    run: async cx => (await import('./commands/ui.ts')).ui(cx),
  },
  {
    name: 'bundle',
    summary: 'one file with everything that explains a cloud; values of Secrets are replaced by names',
    about: 'The same objects give the same file. Every command reads it with --from.',
    flags: [['--to <file>', 'where to write it', 'openstack-bundle.yaml.gz']],
    examples: [
      ['-n openstack', 'to attach to a bug report'],
      ['-A --to all.yaml', 'everything, to read yourself'],
    ],
    reads: 'whole',
    run: async cx => (await import('./commands/bundle.ts')).bundle(cx),
  },
  {
    name: 'replay',
    args: '<bundle>',
    summary: 'runs the operator on a copy of a bundle, and prints how it ends',
    about: 'Nodes and backends work there: what is still wrong in the end is wrong in the objects. Exit code 1 then.',
    flags: [['-n, --namespace <name>', 'which namespace of the bundle; the first with a cloud unless given']],
    examples: [['openstack-bundle.yaml.gz', 'is it the objects, or the cluster?']],
    reads: 'none',
    run: async cx => (await import('./commands/bundle.ts')).replay(cx),
  },
  {
    name: 'completion',
    args: '<shell>',
    summary: 'a script that completes commands and options: bash, zsh or fish',
    about: 'Put the source line into the file that your shell reads at its start.',
    examples: [
      ['bash', 'source <(openstack-operator completion bash)'],
      ['fish', 'openstack-operator completion fish | source'],
    ],
    reads: 'none',
    run: async cx => (await import('./commands/completion.ts')).completion(COMMANDS)(cx),
  },
  {
    name: 'version',
    summary: 'versions of this program, of Node and of the option tables',
    about: '',
    examples: [['-o json', 'for programs']],
    reads: 'none',
    run: async () => (await import('./commands/completion.ts')).version(),
  },
];
