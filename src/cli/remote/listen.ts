/**
 * `gatehouse webhooks listen`: forwards an application's events, signed as deliveries are, to a local receiver.
 * Reads the server's stream, so the server need not reach this machine; no endpoint is registered.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { systemRandom } from '../../core/random.ts';
import { isSecret, mintSecret } from '../../core/secret.ts';
import { StartupError } from '../../core/startup-error.ts';
import { signatureHeader } from '../../modules/webhooks/signature.ts';
import { UsageError } from '../arguments.ts';
import { follow } from './event-source.ts';
import { type RemoteCall, remoteCommand } from './remote-command.ts';
import { printable } from '../sanitize.ts';

/** Same timeout as a real delivery. */
const TIMEOUT_MS = 15_000;

interface Event {
  readonly id: string;
  readonly type: string;
}

interface Outcome {
  readonly status: number | null;
  readonly error?: string;
  readonly durationMs: number;
}

export const webhooksListen = remoteCommand({
  name: 'webhooks listen',
  summary: 'Forward events, signed, to a receiver on your machine',
  options: {
    forward: { value: 'URL', meaning: 'Such as http://localhost:3000/hook. Without it events are only shown.' },
    events: { value: 'TYPES', meaning: 'Only these, separated by commas.' },
    'secret-file': { value: 'FILE', meaning: 'File that keeps the signing secret between runs.' },
  },
  isOfApplication: true,
  next: [
    'The server need not reach your machine, and nothing is registered there.',
    'An event is forwarded once, even if your receiver refuses it.',
    'The key is never forwarded.',
    '',
    'Next: sign in to the application, and watch user.signed_in arrive.',
  ],
  async execute(call) {
    const { terminal, target, text, show } = call;
    const forward = forwardUrl(text('forward'));
    const wanted = await wantedTypes(call.list('events'));
    const application = await call.application();
    const secret = secretOf(text('secret-file'));
    terminal.err(
      `Events of ${printable(application.name)}${forward ? `, forwarded to ${forward}` : ''}. Ctrl-C ends it.\n`,
    );
    terminal.err(`Signing secret: ${secret}\n`);
    const path = `/api/applications/${application.id}/webhooks/events`;
    const onOpen = (isAgain: boolean) => terminal.err(isAgain ? 'Reconnected; missed events follow.\n' : 'Ready.\n');
    for await (const { name, data } of follow({ terminal, target, path, onOpen })) {
      if (name !== 'event') continue;
      const event = JSON.parse(data) as Event;
      if (wanted !== null && !wanted.includes(event.type)) continue;
      const outcome = forward === null ? null : await send(call, forward, { secret, event, body: data });
      if (show.isJson) await show.jsonLine({ event, forwarded: outcome });
      else await show.say(lineOf(call, event, outcome));
    }
    terminal.err('Stopped; nothing remains at the server.\n');
    return 0;
  },
});

function forwardUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('--forward is no address. Give one such as http://localhost:3000/hook.');
  return url.href;
}

/** Validates the event types. @returns null for all. @throws {UsageError} */
async function wantedTypes(given: readonly string[] | undefined): Promise<readonly string[] | null> {
  if (!given || given.includes('*')) return null;
  const { EVENT_TYPES } = await import('../../core/event.ts');
  const unknown = given.find((type) => !(EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined)
    throw new UsageError(`There is no event "${unknown}". There are: ${EVENT_TYPES.join(', ')}.`);
  return given;
}

/** Reads the signing secret, and creates the file if missing. @throws {StartupError} */
function secretOf(file: string | undefined): string {
  if (file === undefined) return mintSecret('webhook', systemRandom);
  try {
    if (!existsSync(file)) writeFileSync(file, `${mintSecret('webhook', systemRandom)}\n`, { mode: 0o600, flag: 'wx' });
    const secret = readFileSync(file, 'utf8').trim();
    if (isSecret('webhook', secret)) return secret;
  } catch (error) {
    throw new StartupError(`--secret-file ${file} cannot be used (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw new StartupError(`--secret-file ${file} holds no signing secret: one begins with whsec_.`);
}

/** Sends an event with the headers and body of a real delivery. Never throws: failures are outcomes. */
async function send(
  { terminal }: RemoteCall,
  url: string,
  { secret, event, body }: { readonly secret: string; readonly event: Event; readonly body: string },
): Promise<Outcome> {
  const begin = performance.now();
  const took = () => Math.round(performance.now() - begin);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await terminal.fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([limit, terminal.interruption]),
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Gatehouse',
        'Svc-Event-Id': event.id,
        'Svc-Signature': signatureHeader([secret], Math.floor(terminal.now() / 1000), body),
      },
      body,
    });
    await response.body?.cancel();
    return { status: response.status, durationMs: took() };
  } catch (error) {
    const reason = limit.aborted ? 'no answer within 15 s' : ((error as { code?: string }).code ?? 'no connection');
    return { status: null, error: reason, durationMs: took() };
  }
}

function lineOf({ terminal, show }: RemoteCall, { id, type }: Event, outcome: Outcome | null): string {
  const time = show.time(new Date(terminal.now()).toISOString());
  const result = outcome === null ? '' : `  ${outcome.status ?? outcome.error} in ${outcome.durationMs} ms`;
  return `${time}  ${type.padEnd(23)} ${id}${result}`;
}
