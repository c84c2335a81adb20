import { describe, expect, it } from 'vitest';
import { contents, readRecipe } from './kolla.ts';

const base = readRecipe(`FROM {{ namespace }}/{{ image_prefix }}openstack-base:{{ tag }}
COPY nova_sudoers /etc/sudoers.d/kolla_nova_sudoers
COPY extend_start.sh /usr/local/bin/kolla_extend_start
COPY {{ base_distro }}.sources /etc/apt/sources.list.d/
RUN mkdir -p /etc/nova/ \\
    && chmod 440 /etc/sudoers.d/kolla_nova_sudoers \\
    && touch /usr/local/bin/kolla_nova_extend_start \\
    && chmod 644 /usr/local/bin/kolla_extend_start /usr/local/bin/kolla_nova_extend_start
`);
const leaf = readRecipe(`FROM {{ namespace }}/{{ image_prefix }}nova-base:{{ tag }}
{% set nova_compute_packages = [
        'ceph-common',
    ] %}
COPY a b /usr/local/lib/wrappers/
RUN chmod +x /usr/local/lib/wrappers/a
COPY extend_start.sh /usr/local/bin/kolla_nova_extend_start
ENTRYPOINT ["dumb-init", "--"]
USER nova
`);
const look = (name: string) => ({ folder: name, recipe: name === 'nova-base' ? base : leaf });

describe('reading Kolla templates', () => {
  it('finds the parent behind the template expressions', () => {
    expect([base.parent, leaf.parent]).toEqual(['openstack-base', 'nova-base']);
  });

  it('skips what depends on a template value', () => {
    expect(base.copies.map(each => each.to)).toEqual([
      '/etc/sudoers.d/kolla_nova_sudoers',
      '/usr/local/bin/kolla_extend_start',
    ]);
  });

  it('lets the image override the empty hook of its base', () => {
    const image = contents('nova-compute', look);
    expect(image.files.get('/usr/local/bin/kolla_nova_extend_start')).toEqual({
      from: 'nova-compute/extend_start.sh',
      mode: '644',
    });
    expect(contents('nova-base', look).files.get('/usr/local/bin/kolla_nova_extend_start')).toEqual({ mode: '644' });
  });

  it('keeps modes, users and entry points', () => {
    const image = contents('nova-compute', look);
    expect(image.files.get('/etc/sudoers.d/kolla_nova_sudoers')?.mode).toBe('440');
    expect(image.files.get('/usr/local/lib/wrappers/a')).toEqual({ from: 'nova-compute/a', mode: '755' });
    expect([image.user, image.entrypoint]).toEqual(['nova', ['dumb-init', '--']]);
    expect(contents('nova-base', look).user).toBe('root');
  });

  it('knows who gets a client of Ceph', () => {
    expect(contents('nova-compute', look).ceph).toBe(true);
    expect(contents('nova-base', look).ceph).toBe(false);
  });
});
