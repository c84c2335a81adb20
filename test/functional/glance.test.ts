import { describe, expect, it } from 'vitest';
import { Glance } from '../../api/openstack/glance.ts';
import { Job, PersistentVolumeClaim, Service, StatefulSet } from '../../src/kube/resource.ts';
import { NS } from './cloud.ts';
import {
  cloudWith,
  keystoneOf,
  objectOf,
  readyCloud,
  removeCloud,
  sqlOf,
  template,
  text,
  watchStarts,
} from './services.ts';

const on = (spec: object = {}) => ({ glance: { enabled: true, ...spec } });
const modes = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } };

describe('Glance', () => {
  it('keeps images on a volume and answers, not before what it stands on', async () => {
    const { starts, wrap } = watchStarts();
    const cloud = await readyCloud(on(), undefined, { wrap });
    expect(starts.get('statefulsets glance-api')).toEqual(expect.arrayContaining(['MariaDB', 'Keystone']));
    expect(cloud.get(PersistentVolumeClaim, 'glance-images')?.spec).toMatchObject(modes);
    expect(cloud.get(Service, 'glance-api-members')?.spec).toMatchObject({ clusterIP: 'None' });
    expect(cloud.hands.list(Job, NS).map(job => job.metadata.name.replace(/-\w+$/, ''))).toEqual(
      expect.arrayContaining(['glance-db-sync', 'glance-load-metadefs']),
    );
    expect(keystoneOf(cloud).services.map(s => s.type)).toContain('image');
    expect(sqlOf(cloud).databases.glance?.schemas).toEqual(['glance']);
    expect(text(cloud, 'glance-config-data', '01-glance.conf')).toContain(
      '[file]\nfilesystem_store_datadir = /var/lib/glance/images',
    );
    const pods = JSON.stringify(template(cloud, StatefulSet, 'glance-api'));
    expect(pods).toContain('http://$(POD_NAME).glance-api-members.openstack.svc.cluster.local:9292');
    expect(pods).toContain('"claimName":"glance-images"');
  });

  it('rolls only its pods on an edit', async () => {
    const cloud = await readyCloud(on());
    const [own, others] = [template(cloud, StatefulSet, 'glance-api'), template(cloud, StatefulSet, 'mariadb')];
    cloud.apply(cloudWith(on({ importMethods: ['web-download'] })));
    await cloud.settle();
    expect(text(cloud, 'glance-config-data', '01-glance.conf')).toContain('enabled_import_methods = [web-download]');
    expect(template(cloud, StatefulSet, 'glance-api')).not.toEqual(own);
    expect(template(cloud, StatefulSet, 'mariadb')).toEqual(others);
  });

  it('keeps images under Retain and finds them again', async () => {
    const cloud = await readyCloud(on());
    const uid = cloud.get(PersistentVolumeClaim, 'glance-images')?.metadata.uid;
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('glance'))).toEqual(['PersistentVolumeClaim glance-images']);
    cloud.apply(cloudWith(on()));
    await cloud.ready(Glance, 'glance');
    expect(cloud.get(PersistentVolumeClaim, 'glance-images')?.metadata.uid).toBe(uid);
  });

  it('takes the volume along under Delete', async () => {
    const cloud = await readyCloud({ ...on(), deletionPolicy: 'Delete' });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('shares the volume when more than one pod is asked for at first, and says when it can not later', async () => {
    const cloud = await readyCloud(on({ replicas: 2 }));
    expect(cloud.get(PersistentVolumeClaim, 'glance-images')?.spec).toMatchObject({ accessModes: ['ReadWriteMany'] });
    const single = await readyCloud(on());
    single.apply(cloudWith(on({ replicas: 2 })));
    await single.settle();
    expect(single.condition(Glance, 'glance', 'InputReady')).toMatchObject({ reason: 'VolumeNotShared' });
    expect(single.get(StatefulSet, 'glance-api')?.spec).toMatchObject({ replicas: 1 });
  });

  it('says which storage class is missing', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Glance, 'other', { storageClass: 'fast' }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'other', 'InputReady')).toMatchObject({ reason: 'StorageClassNotFound' });
  });
});
