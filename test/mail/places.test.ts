/** How the places of the sender are shared among lanes, domains and workspaces, and what those that hang still hold. */
import { expect, test } from 'bun:test';
import { type Candidate, inFlight } from '@/mail/places.ts';
import type { MailLane } from '@/store/mails.ts';

let made = 0;
function mail(lane: MailLane, domain: string, workspaceId = 'wsp_a'): Candidate {
  made += 1;
  return { id: `mail_${made}`, lane, domain, workspaceId: lane === 'code' ? workspaceId : '' };
}

/** Begins as many of these as there is room for. */
function begin(flight: ReturnType<typeof inFlight>, candidates: readonly Candidate[]): Candidate[] {
  const room = flight.room();
  const begun = candidates.filter((candidate) => room.take(candidate));
  for (const candidate of begun) flight.begin(candidate);
  return begun;
}

const each = (count: number, lane: MailLane, domain: (index: number) => string, workspaceId?: string) =>
  Array.from({ length: count }, (_, index) => mail(lane, domain(index), workspaceId));

const own = (index: number) => `d${index}.example`;

test('one domain has half of the places, one workspace’s codes three quarters, and codes in all have all', () => {
  const flight = inFlight({ places: 12, slowPlaces: 20 });
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

test('a code has room at the domain that mails to many go to', () => {
  const flight = inFlight({ places: 12, slowPlaces: 20 });
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

test('what hangs gives its place back, but not to more for the same domain', () => {
  const flight = inFlight({ places: 12, slowPlaces: 20 });
  const begun = begin(
    flight,
    each(20, 'code', () => 'one.example'),
  );
  for (const { id } of begun) flight.hang(id);
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
  ['mails to many', 'bulk', 6],
] as const)('%s that hang have half of the places for such; beyond that they hold their own', (_, lane, share) => {
  const flight = inFlight({ places: 12, slowPlaces: 20 });
  let underWay = 0;
  for (let round = 0; round < 5; round += 1) {
    const begun = begin(
      flight,
      each(50, lane, (index) => `d${round}-${index}.example`),
    );
    underWay += begun.length;
    for (const { id } of begun) flight.hang(id);
  }
  expect(underWay).toBe(10 + share);
  // So another's codes go, and there is room for them to hang too.
  const others = begin(flight, each(50, 'code', own, 'wsp_b'));
  expect(others).toHaveLength(12 - share);
  for (const { id } of others) flight.hang(id);
  expect(begin(flight, each(50, 'code', own, 'wsp_c'))).toHaveLength(12 - share);
});

test('where nothing may hang besides, what hangs holds its place until it ends', () => {
  const flight = inFlight({ places: 4 });
  const begun = begin(flight, each(9, 'code', own));
  expect(begun).toHaveLength(3);
  for (const { id } of begun) flight.hang(id);
  expect(begin(flight, each(9, 'code', own))).toEqual([]);
  flight.end(begun[0]!.id);
  flight.hang(begun[0]!.id);
  expect(begin(flight, each(9, 'code', own))).toHaveLength(1);
});
