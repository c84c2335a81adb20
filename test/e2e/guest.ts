import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { must, run } from '../../lab/shell.ts';
import { addressOf } from './lab.ts';
import { fromOutside } from './outside.ts';

export interface Key {
  readonly file: string;
  readonly public: string;
}

export async function makeKey(): Promise<Key> {
  const file = join(mkdtempSync(join(tmpdir(), 'story-')), 'key');
  await must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return { file, public: readFileSync(`${file}.pub`, 'utf8').trim() };
}

/** What the command printed in the guest; undefined while nobody answers. */
export async function ssh(key: Key, address: string, command: string): Promise<string | undefined> {
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'BatchMode=yes',
    'ConnectTimeout=15',
  ];
  const words = ['ssh', '-i', key.file, ...options.flatMap(option => ['-o', option]), `root@${address}`, command];
  const { code, stdout } = await run(...fromOutside('timeout', '60', ...words));
  return code === 0 ? stdout : undefined;
}

export interface Pinging {
  /** Ends it: packets sent and lost. */
  stop(): Promise<{ sent: number; lost: number }>;
}

/** Pings five times a second until it is stopped, for ten minutes at most. */
export function ping(address: string): Pinging {
  const child = spawn(...fromOutside('ping', '-i', '0.2', '-w', '600', address), {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  return {
    async stop() {
      child.kill('SIGINT');
      await new Promise(resolve => child.once('close', resolve));
      const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(text) ?? [];
      if (sent === undefined) throw new Error(`ping said: ${text.slice(-300)}`);
      return { sent: Number(sent), lost: Number(sent) - Number(received) };
    },
  };
}

/** The first bytes that the console of a guest sends through the proxy: `RFB 003.008` when all is well. */
export async function consoleGreeting(url: string): Promise<string> {
  const { protocol, host, hostname, port, searchParams } = new URL(url);
  const token =
    new URL(searchParams.get('path') ?? '', url).searchParams.get('token') ?? searchParams.get('token') ?? '';
  const address = await addressOf(hostname);
  // Whose certificate it is, is the matter of other stories.
  const socket =
    protocol === 'https:'
      ? connectTls({ host: address, port: Number(port || 443), servername: hostname, rejectUnauthorized: false })
      : connect(Number(port), address);
  socket.setTimeout(20_000, () => socket.destroy(new Error('the console says nothing')));
  const lines = [
    `GET /?token=${token} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: binary',
    `Origin: ${protocol}//${host}`,
    `Cookie: token=${token}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let text = '';
  for await (const piece of socket) {
    text += (piece as Buffer).toString('latin1');
    const greeting = /RFB \d+\.\d+/.exec(text);
    if (greeting) {
      socket.destroy();
      return greeting[0];
    }
  }
  throw new Error(`the proxy hung up: ${text.slice(0, 200)}`);
}
