/** The parts of a mail server's reply that may be stored: bounded, in one line, without addresses or secrets. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { serverWords, type Unspeakable } from '@/mail/server-words.ts';

const TOKEN = 'egu_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
const LINK = 'Zm9vYmFyLWJhei1xdXV4LTEyMzQ1';
const UNSPEAKABLE: Unspeakable = {
  credentials: ['postmaster', 'hunter2', btoa('hunter2')],
  mail: { recipient: 'ada.byron@example.com', code: '424242', text: `Your code is 424242. https://a.example/${LINK}` },
};

test.each([
  ['550-5.1.1 no such\r\n550 5.1.1 user', '550 5.1.1 no such user'],
  ['550 5.1.1', '550 5.1.1'],
  ['421', '421'],
  ['250', '250'],
  ['no status at all', 'no status at all'],
  ['550 Ada.Byron unknown, try ada.byron+tag@example.com', '550 [redacted] unknown, try [redacted]'],
  ['554 4 2 4 2 4 2 and 424-242 looked like spam', '554 [redacted] and [redacted] looked like spam'],
  [`554 refused: https://a.example/${LINK}`, '554 refused: https://a.example/[redacted]'],
  [`554 refused: ${TOKEN}`, '554 refused: egu_[redacted]'],
  ['535 5.7.8 postmaster, hunter2', '535 5.7.8 [redacted], [redacted]'],
  ['550 \u001b[31mred\u0007\tand \u202eback', '550 [31mred and back'],
])('%j', (said, words) => {
  expect(serverWords(said, UNSPEAKABLE)).toBe(words);
});

test('no address or secret is shown in any context', () => {
  const secret = fc.constantFrom('ada.byron@example.com', 'ADA.BYRON', '424242', 'hunter2', TOKEN, LINK);
  const space = fc.constantFrom(' ', '\r\n550 ', '\t', ', ', '<', '> ');
  fc.assert(
    fc.property(fc.array(fc.tuple(space, fc.oneof(secret, fc.string())), { maxLength: 12 }), (parts) => {
      const words = serverWords(`550 ${parts.flat().join('')} `, UNSPEAKABLE);
      expect(words.length).toBeLessThanOrEqual(200);
      expect(words).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(words).not.toContain('ada.byron@example.com');
      expect(words).not.toContain(TOKEN);
    }),
  );
});
