import type { OpenStack } from './openstack.ts';
import { type Stage, until } from './stage.ts';

interface Volume {
  id: string;
  status: string;
}

/** Disks that outlive guests, their snapshots and backups. */
export class Volumes {
  readonly #stage: Stage;
  readonly #os: OpenStack;

  constructor(stage: Stage, os: OpenStack) {
    this.#stage = stage;
    this.#os = os;
  }

  /** Waits until a thing of the list says so; an error of its driver ends the wait. */
  async become(kind: 'volume' | 'snapshot' | 'backup', id: string, status: string): Promise<void> {
    let last = '';
    await until(
      this.#stage,
      () => `${kind} ${id} is ${status}: ${last}`,
      300,
      async () => {
        const answer = await this.#os.call<Record<string, Volume & { fail_reason?: string }>>(
          'block-storage',
          'GET',
          `/${kind}s/${id}`,
        );
        last = answer[kind]!.status;
        if (last.startsWith('error')) throw new Error(`${kind} ${id} is ${last} ${answer[kind]!.fail_reason ?? ''}`);
        return last === status;
      },
    );
  }

  async make(kind: 'volume' | 'snapshot' | 'backup', body: object): Promise<string> {
    const made = await this.#os.call<Record<string, Volume>>('block-storage', 'POST', `/${kind}s`, {
      body: { [kind]: body },
    });
    const { id } = made[kind]!;
    await this.become(kind, id, 'available');
    return id;
  }

  /** Where the guest finds it. */
  async attach(server: string, volume: string): Promise<string> {
    const body = { volumeAttachment: { volumeId: volume } };
    const { volumeAttachment } = await this.#os.call<{ volumeAttachment: { device: string } }>(
      'compute',
      'POST',
      `/servers/${server}/os-volume_attachments`,
      { body },
    );
    await this.become('volume', volume, 'in-use');
    return volumeAttachment.device;
  }

  async detach(server: string, volume: string): Promise<void> {
    await this.#os.call('compute', 'DELETE', `/servers/${server}/os-volume_attachments/${volume}`);
    await this.become('volume', volume, 'available');
    // Cinder has it back a moment before Nova forgets it.
    await until(this.#stage, `server ${server} has let go of volume ${volume}`, 60, async () => {
      const { volumeAttachments } = await this.#os.call<{ volumeAttachments: { volumeId: string }[] }>(
        'compute',
        'GET',
        `/servers/${server}/os-volume_attachments`,
      );
      return !volumeAttachments.some(each => each.volumeId === volume);
    });
  }

  /** Again and again: what something else depends on is refused, until that is gone. */
  async sweep(): Promise<void> {
    await until(this.#stage, 'volumes, snapshots and backups are gone', 300, async () => {
      let left = 0;
      for (const kind of ['backups', 'snapshots', 'volumes']) {
        const answer = await this.#os.call<Record<string, Volume[]>>('block-storage', 'GET', `/${kind}/detail`);
        for (const { id, status } of answer[kind] ?? []) {
          left++;
          if (/^(available|error.*)$/.test(status))
            await this.#os.call('block-storage', 'DELETE', `/${kind}/${id}`).catch(() => undefined);
        }
      }
      return left === 0;
    });
  }
}
