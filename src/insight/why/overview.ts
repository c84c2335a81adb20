import { type CloudStatus, groupsOf, statusOf } from '../status/status.ts';
import { type Timeline, timelineOf } from '../status/timeline.ts';
import { type Topology, topologyOf } from '../status/topology.ts';
import { around, type View, viewOf } from '../view/view.ts';
import { type Why, why } from './why.ts';

export interface CloudOverview extends CloudStatus {
  readonly topology: Topology;
  /** Absent when nothing has a time yet. */
  readonly timeline?: Timeline;
  /** Of this cloud alone; absent where the one of all says the same. */
  readonly why?: Why;
}

/** All that the first screen of the page draws: status, who waits for whom, the last roll-out, and why not. */
export interface Overview {
  readonly clouds: readonly CloudOverview[];
  readonly why: Why;
}

export function overviewOf(view: View): Overview {
  const groups = groupsOf(view);
  const several = new Set(groups.map(({ namespace }) => namespace)).size > 1;
  const clouds = statusOf(view).map((status, index) => {
    const group = groups[index]!;
    const timeline = timelineOf(view, group);
    return {
      ...status,
      topology: topologyOf(view, group),
      ...(timeline && { timeline }),
      ...(several && { why: why(within(view, group.namespace)) }),
    };
  });
  return { clouds, why: why(view) };
}

const within = (view: View, namespace: string): View => viewOf(around(view.objects, namespace), view.now);
