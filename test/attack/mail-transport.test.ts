/**
 * Attack on the network between this server and its mail server: codes and the password are never sent in plain text.
 */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SMTPServer } from 'smtp-server';
import { SECOND } from '@/core/clock.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { SETTINGS } from '@/settings.ts';
import { SELF_SIGNED_CERT, SELF_SIGNED_KEY } from '../outbound/certificates.ts';
import { createInstance, type Instance } from '../support/instance.ts';

setDefaultTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A mail server whose STARTTLS offer was stripped; it records every line it receives. */
function startStripped() {
  const lines: string[] = [];
  const server = Bun.listen<{ isData: boolean }>({
    hostname: '0.0.0.0',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { isData: false };
        socket.write('220 ready\r\n');
      },
      data(socket, data) {
        for (const line of data.toString().split('\r\n').filter(Boolean)) {
          lines.push(line);
          if (socket.data.isData) {
            if (line === '.') {
              socket.data.isData = false;
              socket.write('250 taken\r\n');
            }
            continue;
          }
          const verb = line.slice(0, 4).toUpperCase();
          if (verb === 'EHLO') socket.write('250-stripped\r\n250 AUTH PLAIN LOGIN\r\n');
          else if (verb === 'STAR') socket.write('502 not here\r\n');
          else if (verb === 'AUTH') socket.write('235 welcome\r\n');
          else if (verb === 'DATA') {
            socket.data.isData = true;
            socket.write('354 go on\r\n');
          } else socket.write('250 OK\r\n');
        }
      },
    },
  });
  cleanups.push(() => server.stop(true));
  return { lines, port: server.port };
}

async function instanceSendingTo(url: string): Promise<Instance> {
  const instance = await createInstance({ mail: smtpTransport({ url, from: 'no-reply@acme.example' }) });
  cleanups.push(() => instance.services.mail.close());
  return instance;
}

async function mailCode(instance: Instance): Promise<string> {
  const { clientId } = await instance.createApplication();
  await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'ada@example.com', clientId } });
  const code = instance.codeFor('ada@example.com');
  await instance.services.mail.runOnce();
  return code;
}

const stored = ({ sqlite }: Instance) =>
  sqlite.query('SELECT status, last_error AS lastError FROM mails').get() as { status: string; lastError: string };

/** An address of this machine that is not recognised as loopback. */
const ELSEWHERE = '0.0.0.0';

describe('smtp:// to another host', () => {
  test.each(['', '?requireTLS=false', '?ignoreTLS=true', '?opportunisticTLS=true', '?secure=false'])(
    'sends neither code nor password without STARTTLS (%s); log and outbox say why',
    async (parameters) => {
      const { lines, port } = startStripped();
      const instance = await instanceSendingTo(`smtp://user:hunter2@${ELSEWHERE}:${port}${parameters}`);
      const code = await mailCode(instance);
      const sent = lines.join('\n');
      expect(sent).not.toMatch(/^(?:AUTH|MAIL|RCPT|DATA)/m);
      for (const secret of [code, 'hunter2', Buffer.from('\0user\0hunter2').toString('base64')])
        expect(sent).not.toContain(secret);
      // The mail stays queued, since the settings are at fault.
      expect(stored(instance)).toMatchObject({ status: 'queued', lastError: expect.stringContaining('STARTTLS') });
      expect(stored(instance).lastError).toContain('tls=optional');
      const log = instance.logLines.join('');
      expect(log).toContain('takes no STARTTLS');
      expect(log).not.toContain('hunter2');
    },
  );

  test('sends in plain text if the operator allows it', async () => {
    const { lines, port } = startStripped();
    const instance = await instanceSendingTo(`smtp://user:hunter2@${ELSEWHERE}:${port}?tls=optional`);
    await mailCode(instance);
    expect(stored(instance).status).toBe('sent');
    expect(lines).toContain('RCPT TO:<ada@example.com>');
  });

  test.each(['', '?tls=optional'])('sends under TLS if STARTTLS is offered (%s)', async (parameters) => {
    const secured: boolean[] = [];
    const server = new SMTPServer({
      authOptional: true,
      cert: SELF_SIGNED_CERT,
      key: SELF_SIGNED_KEY,
      onData(stream, { secure }, done) {
        secured.push(secure);
        stream.on('data', () => {});
        stream.on('end', () => done());
      },
    });
    server.on('error', () => {});
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    cleanups.push(() => new Promise<void>((resolve) => server.close(resolve)));
    const { port } = server.server.address() as { port: number };
    const joined = `${parameters}${parameters ? '&' : '?'}tls.rejectUnauthorized=false`;
    const instance = await instanceSendingTo(`smtp://${ELSEWHERE}:${port}${joined}`);
    await mailCode(instance);
    expect(stored(instance).status).toBe('sent');
    expect(secured).toEqual([true]);
  });

  test('resumes once the settings are corrected', async () => {
    const { port } = startStripped();
    const instance = await instanceSendingTo(`smtp://${ELSEWHERE}:${port}`);
    await mailCode(instance);
    instance.clock.advance(5 * SECOND);
    await instance.services.mail.runOnce();
    expect(stored(instance).status).toBe('queued');
  });
});

test.each(['127.0.0.1', 'localhost'])('smtp:// to %s may send in plain text', async (host) => {
  const { port } = startStripped();
  const instance = await instanceSendingTo(`smtp://${host}:${port}`);
  await mailCode(instance);
  expect(stored(instance).status).toBe('sent');
});

test('the setting accepts ?tls=optional and no other value of tls', () => {
  const { smtpUrl } = SETTINGS;
  for (const query of ['', '?tls=optional']) expect(smtpUrl.parse(`smtp://mail.example.com:587${query}`)).toBeString();
  for (const query of ['?tls=none', '?tls=', '?tls=Optional', '?tls=false'])
    expect([query, smtpUrl.parse(`smtp://mail.example.com:587${query}`)]).toEqual([query, null]);
});
