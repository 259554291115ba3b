import { describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { mintSecret, SECRET_PREFIXES, type SecretKind } from '@/core/secret.ts';
import { redact } from '@/core/redact.ts';
import { createLog } from '@/log.ts';

const KINDS = Object.keys(SECRET_PREFIXES) as SecretKind[];

function logged(level = 'debug') {
  const lines: string[] = [];
  return { lines, log: createLog(level, { write: (line: string) => void lines.push(line) }) };
}

describe('scrub', () => {
  test.each(KINDS)('takes a %s secret out and leaves its kind', (kind) => {
    const secret = mintSecret(kind, systemRandom);
    const prefix = SECRET_PREFIXES[kind];
    for (const [before, after] of [
      ['', ''],
      ['"', '"'],
      ['Bearer ', ','],
      ['token=', '&x'],
      ['(', ')'],
      ['/', '/'],
    ] as const)
      expect(redact(before + secret + after)).toBe(`${before}${prefix}_[redacted]${after}`);
  });

  test('takes out webhook secrets and every one of several', () => {
    const text = `whsec_0123456789 ${mintSecret('apiKey', systemRandom)} ${mintSecret('session', systemRandom)}`;
    expect(redact(text)).toBe('whsec_[redacted] eak_[redacted] est_[redacted]');
  });

  test.each([
    ['mail to ada@example.com failed', 'mail to [redacted] failed'],
    ['"Ada.Lovelace+x@Example.co.uk"', '"[redacted]"'],
    ['<ada@example.com>, <eve@example.org>', '<[redacted]>, <[redacted]>'],
    ['jürgen@münchen.de', '[redacted]'],
    ['RCPT TO:<ada@example.com>', 'RCPT TO:<[redacted]>'],
  ])('takes addresses out of %s', (text, scrubbed) => {
    expect(redact(text)).toBe(scrubbed);
  });

  test('takes the password out of an address with one', () => {
    expect(redact('connect smtp://user:hunter2@mail.example.com:587')).not.toContain('hunter2');
  });

  test('leaves other text as it is', () => {
    const text = 'no such table: users (usr_01h455vb4pex5vsknk084sn02q) at line 5, 50 % of 10 @ noon';
    expect(redact(text)).toBe(text);
  });

  test('answers a hostile text at once', () => {
    const before = performance.now();
    for (const text of ['a'.repeat(60_000), 'eak_'.repeat(15_000), '@'.repeat(60_000)]) redact(text);
    expect(performance.now() - before).toBeLessThan(300);
  });
});

describe('a logged error', () => {
  test('keeps type, message, stack and causes, without secrets and addresses in any of them', () => {
    const { lines, log } = logged();
    const token = mintSecret('session', systemRandom);
    const cause = new Error(`451 <ada@example.com> greylisted`, { cause: `header was ${token}` });
    log.error({ err: new RangeError(`bad ${token}`, { cause }) }, 'failed');
    const line = JSON.parse(lines[0]!);
    expect(line).toMatchObject({
      level: 'error',
      msg: 'failed',
      err: {
        type: 'RangeError',
        message: 'bad est_[redacted]',
        stack: expect.stringContaining('log.test.ts'),
        cause: { type: 'Error', message: '451 <[redacted]> greylisted', cause: 'header was est_[redacted]' },
      },
    });
    expect(lines[0]).not.toContain(token);
    expect(lines[0]).not.toContain('ada@example.com');
  });

  test('brings none of its own properties along: a library may hang the whole message on it', () => {
    const { lines, log } = logged();
    log.error({ err: Object.assign(new Error('refused'), { envelope: { to: ['ada@example.com'] }, code: '123456' }) });
    expect(lines[0]).not.toContain('ada@example.com');
    expect(lines[0]).not.toContain('123456');
  });

  test('that is no Error is scrubbed as well', () => {
    const { lines, log } = logged();
    log.error({ err: 'lost ada@example.com' });
    expect(JSON.parse(lines[0]!).err).toBe('lost [redacted]');
  });

  test('that is its own cause does not stop the logging', () => {
    const { lines, log } = logged();
    const error = new Error('round');
    error.cause = new Error('and round', { cause: error });
    log.error({ err: error }, 'failed');
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'failed', err: { message: 'round' } });
  });
});

describe('a log line', () => {
  test('has secrets and personal fields taken out, at the top and one level down', () => {
    const { lines, log } = logged();
    const names = ['email', 'token', 'code'];
    const fields = Object.fromEntries(names.map((name) => [name, 'hidden-value']));
    log.info({ ...fields, authorization: 'hidden-value', cookie: 'hidden-value', user: fields, shown: 'seen' });
    expect(lines[0]).not.toContain('hidden-value');
    expect(JSON.parse(lines[0]!)).toMatchObject({ shown: 'seen', email: '[Redacted]', user: { token: '[Redacted]' } });
  });

  test('is one line of JSON with its level by name and an ISO time, and nothing about the machine', () => {
    const { lines, log } = logged();
    log.warn({ text: 'two\nlines' }, 'careful');
    expect(lines).toHaveLength(1);
    expect(lines[0]!.trimEnd()).not.toContain('\n');
    expect(Object.keys(JSON.parse(lines[0]!)).sort()).toEqual(['level', 'msg', 'text', 'time']);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  test('below the configured level is not written', () => {
    const { lines, log } = logged('error');
    log.warn('quiet');
    log.error('loud');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['loud']);
  });
});
