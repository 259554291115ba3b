/** The readable log format: each line corresponds to one JSON line, and no content controls the terminal. */
import { describe, expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logFormat, prettyLine } from '@/cli/pretty-log.ts';
import { loadConfig } from '@/config.ts';
import { createLog, logDestination } from '@/log.ts';
import { emptyFolder } from '../support/binary.ts';

const TIME = '2026-03-02T12:00:01.234Z';
const line = (fields: object) => `${JSON.stringify({ level: 'info', time: TIME, ...fields })}\n`;
const format = prettyLine(false);
const ESCAPE = '\u001b';

describe('a pretty line', () => {
  const REQUEST = {
    requestId: 'req_1',
    method: 'GET',
    route: '/api/applications/:id',
    status: 200,
    durationMs: 1.234,
    principal: null,
    ip: '203.0.113.7',
  };

  test('a request’s line has time, status, route and duration in columns', () => {
    const short = format(line(REQUEST));
    const long = format(line({ ...REQUEST, method: 'DELETE', status: 503, durationMs: 1200.5, principal: 'key_1' }));
    expect(short).toMatch(/^12:00:01\.234 INFO  200 GET    \/api\/applications\/:id +1\.2 ms  203\.0\.113\.7 req_1\n$/);
    expect(long).toMatch(/503 DELETE \/api\/applications\/:id +1200\.5 ms  key_1 203\.0\.113\.7 req_1\n$/);
    expect(short.indexOf(' ms')).toBe(long.indexOf(' ms'));
  });

  test('any other record’s line has its message, then its fields', () => {
    expect(
      format(
        line({ level: 'warn', msg: 'a mail could not be sent yet', mailId: 'mai_1', attempts: 3, reason: '450 busy' }),
      ),
    ).toBe('12:00:01.234 WARN  a mail could not be sent yet  mailId=mai_1  attempts=3  reason="450 busy"\n');
  });

  test('an error’s line has its stack trace and causes below it', () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (text: string) => void lines.push(text) });
    log.error({ err: new Error('it broke', { cause: new TypeError('because') }) }, 'request failed');
    const [head = '', ...rest] = format(lines[0]!).split('\n');
    expect(head).toMatch(/ERROR request failed$/);
    expect(rest[0]).toBe('    Error: it broke');
    expect(rest[1]).toMatch(/^ +at /);
    expect(rest).toContain('    TypeError: because');
  });

  test('is coloured only on request, by level and status', () => {
    const coloured = prettyLine(true);
    expect(coloured(line({ ...REQUEST, status: 500 }))).toContain(`${ESCAPE}[31m500${ESCAPE}[0m`);
    expect(coloured(line({ level: 'warn', msg: 'hm' }))).toContain(`${ESCAPE}[33mWARN`);
    expect(format(line({ ...REQUEST, status: 500 })) + format(line({ level: 'warn', msg: 'hm' }))).not.toContain(
      ESCAPE,
    );
  });

  test('contains no outside control characters', () => {
    const evil = `${ESCAPE}[2J\r\u0007\u009b31m`;
    const said = format(
      line({ msg: 'said', header: evil, err: { type: evil, message: evil, stack: `x\n  at ${evil}` } }),
    );
    expect(said.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(format(line({ ...REQUEST, method: evil, route: evil, principal: evil })).trim()).not.toMatch(/\p{Cc}/u);
    expect(format(line({ msg: evil })).trim()).not.toMatch(/\p{Cc}/u);
  });

  test('stands for each line of a block, whatever characters the line contains', async () => {
    const folder = emptyFolder();
    const path = join(folder.path, 'log');
    const fd = openSync(path, 'w');
    const destination = logDestination(fd, format);
    destination.write(line({ msg: 'one' }) + line({ msg: 'two', reason: 'a\u2028\u009b31m\u2029z' }) + line(REQUEST));
    await destination.flush();
    closeSync(fd);
    const written = readFileSync(path, 'utf8').split('\n');
    folder.remove();
    expect(written.map((text) => text.slice(0, 17))).toEqual([...Array<string>(3).fill('12:00:01.234 INFO'), '']);
    expect(written.join('')).not.toMatch(/\p{Cc}/u);
  });

  test.each(['Gatehouse is running at http://localhost:8080\n\n', '{"level":broken\n', '── mail to ada@example.com\n'])(
    'leaves text unchanged that is no JSON line: %j',
    (text) => expect(format(text)).toBe(text),
  );
});

describe('the format', () => {
  const chosen = (settings: Record<string, string>, mode: 'normal' | 'dev' = 'normal', flags = {}) => {
    const text = logFormat(loadConfig(settings, { mode, flags }), openSync('/dev/null', 'w'), {})?.(line({ msg: 'x' }));
    return text === undefined ? 'json' : 'pretty';
  };

  test('is JSON unless pretty is configured; the flag wins; development into a file stays JSON', () => {
    expect(chosen({})).toBe('json');
    expect(chosen({ GATEHOUSE_LOG_FORMAT: 'pretty' })).toBe('pretty');
    expect(chosen({ GATEHOUSE_LOG_FORMAT: 'pretty' }, 'normal', { 'log-format': 'json' })).toBe('json');
    expect(chosen({}, 'dev')).toBe('json');
    expect(chosen({}, 'dev', { 'log-format': 'pretty' })).toBe('pretty');
    expect(() => chosen({ GATEHOUSE_LOG_FORMAT: 'xml' })).toThrow(
      'GATEHOUSE_LOG_FORMAT (--log-format): give json or pretty.',
    );
  });
});
