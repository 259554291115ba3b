/** The private beta of the demo: pending, approved and declined people. */
import { HOUR } from '../../src/core/clock.ts';
import type { House } from './house.ts';
import type { Past } from './past.ts';
import type { Person } from './people.ts';
import type { Team } from './team.ts';
import type { Timeline } from './timeline.ts';

/** @param guests who request access; @param crew who are on the list from the beginning. */
export function beta(
  past: Past,
  { as }: Team,
  { applications: { staff } }: House,
  time: Timeline,
  { crew, guests }: { readonly crew: readonly Person[]; readonly guests: readonly Person[] },
): void {
  const base = `/api/applications/${staff.id}`;
  const ids = new Map<string, string>();

  const decide = (person: Person, how: string, body: object) => async () => {
    const id = ids.get(person.email);
    if (id) await as('admin', 'POST', `${base}/beta-interests/${id}/${how}`, body);
  };

  async function requestAccess(person: Person, kind: 'request' | 'notify'): Promise<void> {
    await past.signIn(person, staff.clientId);
    past.pass(15);
    await past.ask('POST', `${base}/public/access-interest`, { person, body: { email: person.email, kind } });
    const { items } = await as('admin', 'GET', `${base}/beta-interests?email=${encodeURIComponent(person.email)}`);
    if (items[0]) ids.set(person.email, items[0].id);
  }

  time.daysAgo(54, 9, () =>
    as('admin', 'POST', `${base}/beta-interests`, { emails: crew.map(({ email }) => email), status: 'approved' }),
  );
  for (const [index, person] of guests.entries()) {
    const at = time.endAt - (index * 43 + 3) * HOUR;
    time.at(at, () => requestAccess(person, index % 4 === 3 ? 'notify' : 'request'));
    // The newest requests stay undecided.
    if (index < 7) continue;
    const decision =
      index % 5 === 0
        ? decide(person, 'decline', {})
        : index % 5 === 1
          ? decide(person, 'decline', { soft: true })
          : null;
    time.at(at + 20 * HOUR, decision ?? decide(person, 'approve', { notify: true }));
    if (!decision) time.at(at + 30 * HOUR, () => past.signIn(person, staff.clientId));
  }
}
