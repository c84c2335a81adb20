import { type CloudStatus, groupsOf, statusOf } from './status.ts';
import { type Timeline, timelineOf } from './timeline.ts';
import { type Topology, topologyOf } from './topology.ts';
import type { View } from './view.ts';
import { type Why, why } from './why.ts';

export interface CloudOverview extends CloudStatus {
  readonly topology: Topology;
  /** Absent when nothing has a time yet. */
  readonly timeline?: Timeline;
}

/** All that the first screen of the page draws: status, who waits for whom, the last roll-out, and why not. */
export interface Overview {
  readonly clouds: readonly CloudOverview[];
  readonly why: Why;
}

export function overviewOf(view: View): Overview {
  const groups = groupsOf(view);
  const clouds = statusOf(view).map((status, index) => {
    const group = groups[index]!;
    const timeline = timelineOf(view, group);
    return { ...status, topology: topologyOf(view, group), ...(timeline && { timeline }) };
  });
  return { clouds, why: why(view) };
}
