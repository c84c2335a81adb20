import type { Response } from '../../kube/transport.ts';
import type { Call, Server } from './call.ts';
import { methodNotAllowed } from './status.ts';

export function scale(_server: Server, call: Call): Response {
  throw methodNotAllowed(call.resource);
}
