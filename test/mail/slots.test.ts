/** Slots of the mail sender: shares of priorities, domains and workspaces, and the slots that stalled mails keep. */
import { expect, test } from 'bun:test';
import { type Candidate, mailSlots } from '@/mail/slots.ts';
import type { MailPriority } from '@/store/mails.ts';

let made = 0;
function mail(priority: MailPriority, domain: string, workspaceId = 'wsp_a'): Candidate {
  made += 1;
  return { id: `mail_${made}`, priority, domain, workspaceId: priority === 'code' ? workspaceId : '' };
}

/** Begins the mails that get a slot. */
function begin(flight: ReturnType<typeof mailSlots>, candidates: readonly Candidate[]): Candidate[] {
  const free = flight.free();
  const begun = candidates.filter((candidate) => free.take(candidate));
  for (const candidate of begun) flight.begin(candidate);
  return begun;
}

const each = (count: number, lane: MailPriority, domain: (index: number) => string, workspaceId?: string) =>
  Array.from({ length: count }, (_, index) => mail(lane, domain(index), workspaceId));

const own = (index: number) => `d${index}.example`;

test('one domain gets half of the slots, one workspace’s codes three quarters, all codes together all', () => {
  const flight = mailSlots({ slots: 12, slowSlots: 20 });
  expect(
    begin(
      flight,
      each(20, 'code', () => 'one.example'),
    ),
  ).toHaveLength(6);
  expect(begin(flight, each(20, 'code', own))).toHaveLength(3);
  expect(begin(flight, each(20, 'code', own, 'wsp_b'))).toHaveLength(3);
  expect(begin(flight, each(1, 'code', own, 'wsp_c'))).toEqual([]);
});

test('a code finds a slot at a domain that bulk mail fills', () => {
  const flight = mailSlots({ slots: 12, slowSlots: 20 });
  expect(
    begin(
      flight,
      each(20, 'bulk', () => 'one.example'),
    ),
  ).toHaveLength(6);
  expect(
    begin(
      flight,
      each(20, 'code', () => 'one.example'),
    ),
  ).toHaveLength(6);
});

test('a stalled mail frees its slot, but not for more mails to the same domain', () => {
  const flight = mailSlots({ slots: 12, slowSlots: 20 });
  const begun = begin(
    flight,
    each(20, 'code', () => 'one.example'),
  );
  for (const { id } of begun) flight.stall(id);
  expect(
    begin(
      flight,
      each(20, 'code', () => 'one.example'),
    ),
  ).toEqual([]);
  expect(begin(flight, each(20, 'code', own))).toHaveLength(9);
  for (const { id } of begun) flight.end(id);
  expect(
    begin(
      flight,
      each(20, 'code', () => 'one.example', 'wsp_b'),
    ),
  ).toHaveLength(3);
});

test.each([
  ['codes of one workspace', 'code', 9],
  ['bulk mails', 'bulk', 6],
] as const)('stalled %s use half of the slots for stalled mails; further ones keep their own', (_, lane, share) => {
  const flight = mailSlots({ slots: 12, slowSlots: 20 });
  let underWay = 0;
  for (let round = 0; round < 5; round += 1) {
    const begun = begin(
      flight,
      each(50, lane, (index) => `d${round}-${index}.example`),
    );
    underWay += begun.length;
    for (const { id } of begun) flight.stall(id);
  }
  expect(underWay).toBe(10 + share);
  // Another workspace's codes are sent, and may stall as well.
  const others = begin(flight, each(50, 'code', own, 'wsp_b'));
  expect(others).toHaveLength(12 - share);
  for (const { id } of others) flight.stall(id);
  expect(begin(flight, each(50, 'code', own, 'wsp_c'))).toHaveLength(12 - share);
});

test('without slots for stalled mails, a stalled mail keeps its slot until it ends', () => {
  const flight = mailSlots({ slots: 4 });
  const begun = begin(flight, each(9, 'code', own));
  expect(begun).toHaveLength(3);
  for (const { id } of begun) flight.stall(id);
  expect(begin(flight, each(9, 'code', own))).toEqual([]);
  flight.end(begun[0]!.id);
  flight.stall(begun[0]!.id);
  expect(begin(flight, each(9, 'code', own))).toHaveLength(1);
});
