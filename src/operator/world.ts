import type { Cloud } from '../cloud/ports.ts';
import type { Transport } from '../kube/transport.ts';
import type { Clock, Random } from '../world/clock.ts';

/**
 * Everything that code may not do by itself: time, chance, the network. There are two worlds, the real one
 * (src/real) and the embedded one (src/embedded); code that runs in both can't distinguish them.
 */
export interface World {
  readonly cluster: Transport;
  readonly cloud: Cloud;
  readonly clock: Clock;
  readonly random: Random;
}
