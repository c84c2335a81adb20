import type { AnyObject } from '../../kube/object.ts';
import type { Call } from './call.ts';

export function tableOf(_call: Call, object: AnyObject, _columns: boolean): object {
  return object;
}
