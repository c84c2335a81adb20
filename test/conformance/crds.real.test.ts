import { afterAll, describe } from 'vitest';
import { loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import { crdStories } from '../functional/crd-stories.ts';
import { type ApiServer, startApiServer } from './apiserver.ts';

describe('our kinds on a real kube-apiserver', () => {
  let server: ApiServer | undefined;
  let admin: Connection | undefined;
  afterAll(async () => {
    admin?.close();
    await server?.stop();
  });

  crdStories(
    async () => {
      server = await startApiServer();
      const connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }), {
        userAgent: 'crds',
      });
      admin = connection;
      return request => connection.send(request);
    },
    { tables: true },
  );
});
