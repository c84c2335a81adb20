import { ageOf } from '../../insight/age.ts';
import { type CloudStatus, type ServiceStatus, type State, statusOf } from '../../insight/status/status.ts';
import { type Cell, type Paper, type Style, table, wrapped } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';

export const STYLES: Readonly<Record<State, Style>> = {
  ready: 'green',
  moving: 'yellow',
  stuck: 'red',
  paused: 'cyan',
  deleting: 'gray',
  unseen: 'gray',
};

export async function status(cx: Invocation): Promise<Answer> {
  const { view, notes, namespace, where } = await cx.snapshot();
  const clouds = statusOf(view);
  const text = (paper: Paper): string => {
    const none = `No cloud ${namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`} of ${where}.`;
    return [
      ...(clouds.length === 0 ? [none] : clouds.map(cloud => screen(paper, cloud, view.now))),
      ...notes.map(note => wrapped(paper, 'Note: ', note)),
    ].join('\n\n');
  };
  return {
    data: { clouds, notes },
    text,
    code: clouds.length > 0 && clouds.every(cloud => cloud.state === 'ready') ? 0 : 1,
  };
}

function screen(paper: Paper, cloud: CloudStatus, now: number): string {
  const facts = [
    cloud.phase && `phase ${cloud.phase}`,
    cloud.release && `release ${cloud.release}`,
    `${cloud.ready} of ${cloud.wanted} services ready`,
    cloud.eta && leftOf(cloud.eta),
  ].filter(Boolean);
  const name = cloud.name ?? 'services without a control plane';
  const head = `${paper.paint('bold', `${cloud.namespace}/${name}`)}  ${paper.paint(STYLES[cloud.state], cloud.state)}  ${facts.join(', ')}`;
  const rows = cloud.services.map(service => row(service, now));
  const open = cloud.services.some(service => service.state === 'stuck');
  const hint = open ? `\n\nRun why for the cause and what to do.` : '';
  return `${head}\n${table(paper, ['SERVICE', 'STATE', 'PODS', 'RELEASE', 'SINCE', 'WHAT'], rows)}${hint}`;
}

const leftOf = ({ seconds, learnedFrom }: NonNullable<CloudStatus['eta']>): string =>
  seconds > 0
    ? `about ${ageOf(seconds * 1000)} left, judging by ${learnedFrom} services`
    : `longer than the ${learnedFrom} services before it took`;

function row(service: ServiceStatus, now: number): (string | Cell)[] {
  const { pods, state } = service;
  const what = [...service.doing, ...(state === 'ready' ? [] : [`${service.reason} ${service.message}`.trim()])].join(
    '; ',
  );
  return [
    service.kind.toLowerCase() === service.name ? service.name : `${service.kind} ${service.name}`,
    { text: state, style: STYLES[state] },
    `${pods.ready}/${pods.wanted}`,
    service.release ?? '',
    service.since ? ageOf(now - Date.parse(service.since)) : '',
    what,
  ];
}
