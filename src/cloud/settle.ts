import { type Claim, holderText, judge, type Owner, readMark } from './ownership.ts';
import { CloudError } from './ports.ts';

/** Something exists under the name that an object asks for, and is not this object's. */
export class NameTaken extends CloudError {
  readonly next: string;
  constructor(what: string, name: string, where: string, mark: Owner | undefined, { owner, namespace, adopt }: Claim) {
    super('taken', `${what} ${name} on ${where} ${holderText(mark, owner)}`);
    const [kind, object] = owner.object.split('/');
    const place = namespace === undefined ? '' : ` -n ${namespace}`;
    // What was adopted before stays so.
    const words = [...(adopt ?? '').split(',').map(word => word.trim()), name].filter(word => word !== '');
    const command = `kubectl annotate --overwrite ${kind?.toLowerCase()} ${object}${place} openstack.k8s.io/adopt=${words.join(',')}`;
    this.next = `choose another name, or, if its data is meant for this object, run: ${command}`;
  }
}

/**
 * Decides about a thing that was found, and throws NameTaken unless it is this object's. True: the mark must be written.
 * `proven` is asked only where it matters.
 */
export async function settle(
  found: { readonly what: string; readonly name: string; readonly where: string; readonly text?: string | null },
  claim: Claim,
  proven: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const verdict = judge(found.name, found.text, claim);
  if (verdict === 'ours') return false;
  const mark = readMark(found.text);
  if (verdict === 'mark') {
    claim.adopted?.(`${found.what} ${found.name}`, mark ? `${mark.object} of owner ${mark.id}` : 'no owner');
    return true;
  }
  if (verdict === 'unmarked' && (await proven())) return true;
  throw new NameTaken(found.what, found.name, found.where, mark, claim);
}
