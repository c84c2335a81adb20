import type { Request, Response } from '../../kube/transport.ts';
import type { Server } from './call.ts';

export function discovery(_server: Server, _request: Request): Response | undefined {
  return undefined;
}
