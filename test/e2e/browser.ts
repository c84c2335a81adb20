import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request, WebSocket } from 'undici';
import { INGRESS_IP } from '../../lab/cluster/ingress.ts';
import { browserRoots } from '../../lab/images/browser.ts';

const PORT = 9222;
/** A page of Horizon on a busy machine. */
const PATIENCE_SECONDS = 120;

/** Chromium's own root, in namespaces that end with it. It shares this process's network: the lab's. */
const script = `
set -eu
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$WORK/upper,workdir=$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc; mount -t tmpfs tmpfs tmp; mount --rbind /dev dev; mount --rbind /sys sys
mkdir -p tmp/.pki/nssdb
chroot . certutil -N --empty-password -d sql:/tmp/.pki/nssdb
printf %s "$CA" | chroot . certutil -A -n lab -t C,, -d sql:/tmp/.pki/nssdb
exec chroot . env HOME=/tmp chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \\
  --user-data-dir=/tmp/profile --remote-debugging-port=${PORT} --remote-allow-origins='*' --window-size=1280,800 \\
  --host-resolver-rules="$RULES" about:blank
`;

interface Answer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** A person's browser: goes to pages, fills forms, takes pictures. Speaks DevTools' protocol. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #work: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  private constructor(process: ChildProcess, work: string, socket: WebSocket) {
    this.#process = process;
    this.#work = work;
    this.#socket = socket;
    socket.addEventListener('message', event => {
      const answer = JSON.parse(String(event.data)) as Answer;
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
  }

  /** `ca`: the authority it trusts beside the usual ones. */
  static async start(ca: string): Promise<Browser> {
    const work = mkdtempSync(join(tmpdir(), 'browser-'));
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(work, name));
    const env = {
      ...process.env,
      LOWER: (await browserRoots()).join(':'),
      WORK: work,
      RULES: `MAP *.test ${INGRESS_IP}`,
      CA: ca,
    };
    const words = ['unshare', '--mount', '--pid', '--fork', '--kill-child=SIGKILL', 'bash', '-c', script];
    const child = spawn(words[0]!, words.slice(1), { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => {
      said += piece.toString();
    });
    for (let turn = 0; turn < PATIENCE_SECONDS; turn++) {
      const pages = await request(`http://127.0.0.1:${PORT}/json`)
        .then(answer => answer.body.json() as Promise<{ type: string; webSocketDebuggerUrl: string }[]>)
        .catch(() => []);
      const page = pages.find(each => each.type === 'page');
      if (page !== undefined) {
        const socket = new WebSocket(page.webSocketDebuggerUrl);
        await new Promise(resolve => socket.addEventListener('open', resolve, { once: true }));
        return new Browser(child, work, socket);
      }
      if (child.exitCode !== null) break;
      await pause(1000);
    }
    child.kill('SIGKILL');
    throw new Error(`Chromium does not start: ${said.slice(-500)}`);
  }

  async #call<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#last;
    const answer = await new Promise<Answer>(resolve => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    this.#waiting.delete(id);
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as T;
  }

  /** What JavaScript on the page says. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result } = await this.#call<{ result: { value?: T } }>('Runtime.evaluate', {
      expression,
      returnByValue: true,
    });
    return result.value as T;
  }

  /** Waits until the page has loaded and the expression is true on it. */
  async until(what: string, expression: string): Promise<void> {
    for (let turn = 0; turn < PATIENCE_SECONDS; turn++) {
      if (await this.evaluate(`document.readyState === 'complete' && Boolean(${expression})`).catch(() => false))
        return;
      await pause(1000);
    }
    const page = await this.evaluate<string>('location.href + " " + document.body.innerText.slice(0, 500)');
    throw new Error(`not within ${PATIENCE_SECONDS} s: ${what}; the page: ${page}`);
  }

  async visit(url: string): Promise<void> {
    await this.#call('Page.navigate', { url });
  }

  async picture(file: string): Promise<void> {
    const { data } = await this.#call<{ data: string }>('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  async close(): Promise<void> {
    this.#socket.close();
    const ended = new Promise(resolve => this.#process.once('close', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#work, { recursive: true, force: true });
  }
}
