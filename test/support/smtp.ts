/** A real mail server on a free port of loopback: keeps the mails that it accepts, or replies as a test says. */
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  /** Unfolded and decoded, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly html: string;
  readonly raw: string;
}

/** Replies that replace the server's own, each a line such as `550 5.1.1 mailbox unknown`. */
export interface Replies {
  /** Replaces the greeting. */
  readonly greeting?: string;
  readonly logIn?: string;
  readonly sender?: string;
  /** Replies to RCPT TO. @returns `silence` for no reply at all, null to accept. */
  readonly recipient?: (address: string) => string | 'silence' | null;
  readonly message?: string;
}

export interface TestMailServer {
  readonly url: string;
  readonly port: number;
  /** Accepted mails. */
  readonly received: readonly ReceivedMail[];
  /** Accepted and refused mails. */
  readonly offered: readonly ReceivedMail[];
  /** Refuses the next messages with this reply code; null accepts them again. */
  refuseWith(code: number | null): void;
  /** Replaces replies from now on; an empty object restores the server's own. */
  reply(replies: Replies): void;
  close(): Promise<void>;
}

export interface MailServerOptions {
  readonly port?: number;
  /** Offers STARTTLS with this certificate, or speaks TLS from the first byte. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly isImplicit?: boolean };
}

export async function startMailServer({ port = 0, tls }: MailServerOptions = {}): Promise<TestMailServer> {
  const received: ReceivedMail[] = [];
  const offered: ReceivedMail[] = [];
  let refusal: number | null = null;
  let replies: Replies = {};
  const answer = (reply: string | null | undefined, done: (error?: Error | null) => void) => {
    if (reply !== 'silence') done(reply ? errorOf(reply) : null);
  };
  const server = new SMTPServer({
    authOptional: true,
    ...(tls ? { key: tls.key, cert: tls.cert, secure: tls.isImplicit === true } : { allowInsecureAuth: true }),
    disabledCommands: tls ? [] : ['STARTTLS'],
    closeTimeout: 100,
    onConnect: (_, done) => answer(replies.greeting, done),
    onAuth: ({ username }, _, done) =>
      replies.logIn ? done(errorOf(replies.logIn)) : done(null, { user: username ?? '' }),
    onMailFrom: (_, __, done) => answer(replies.sender, done),
    onRcptTo: ({ address }, _, done) => answer(replies.recipient?.(address), done),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = {
          envelopeFrom: envelope.mailFrom ? envelope.mailFrom.address : '',
          envelopeTo: envelope.rcptTo.map(({ address }) => address),
          ...parseMessage(Buffer.concat(chunks).toString('latin1')),
        };
        offered.push(mail);
        if (replies.message !== undefined) return done(errorOf(replies.message));
        if (refusal !== null) return done(Object.assign(new Error('refused by the test'), { responseCode: refusal }));
        received.push(mail);
        done();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: actual } = server.server.address() as { port: number };
  return {
    url: `${tls?.isImplicit ? 'smtps' : 'smtp'}://127.0.0.1:${actual}`,
    port: actual,
    received,
    offered,
    refuseWith: (code) => void (refusal = code),
    reply: (given) => void (replies = given),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

function errorOf(reply: string): Error {
  const [, status, words] = /^(\d{3}) ([^]*)$/.exec(reply)!;
  return Object.assign(new Error(words), { responseCode: Number(status) });
}

/** Parses the part of MIME (RFC 2045 to 2047) that our mails use: one multipart/alternative of two parts. */
function parseMessage(raw: string): Omit<ReceivedMail, 'envelopeFrom' | 'envelopeTo'> {
  const { headers, body } = splitHead(raw);
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  if (!boundary) throw new Error('not a multipart message');
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => splitHead(part.replace(/^\r\n/, '').replace(/\r\n$/, '')));
  const partOf = (type: string) => {
    const part = parts.find((candidate) => candidate.headers['content-type']?.startsWith(type));
    if (!part) throw new Error(`no ${type} part`);
    return decodeBody(part.body, part.headers['content-transfer-encoding'] ?? '7bit').replaceAll('\r\n', '\n');
  };
  return { headers, raw, text: partOf('text/plain'), html: partOf('text/html') };
}

function splitHead(message: string): { headers: Record<string, string>; body: string } {
  const end = message.indexOf('\r\n\r\n');
  const lines = message
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
    }),
  );
  return { headers, body: message.slice(end + 4) };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  const bytes = encoding === 'quoted-printable' ? decodeQuoted(body.replace(/=\r\n/g, '')) : body;
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const decodeQuoted = (text: string) =>
  text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : Buffer.from(decodeQuoted(word.replaceAll('_', ' ')), 'latin1').toString('utf8'),
    );
}
