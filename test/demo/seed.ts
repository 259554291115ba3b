/** Fills a data folder with two months of believable data through the API; the same at every run, except ids. */
import { DAY, MINUTE } from '../../src/core/clock.ts';
import { beta } from './beta.ts';
import { chance } from './chance.ts';
import { type Crowd, gather } from './crowd.ts';
import { build, type House } from './house.ts';
import { moderate, moveIn, settleIn, usage } from './lives.ts';
import { openPast } from './past.ts';
import { makePeople } from './people.ts';
import { TEAM, team } from './team.ts';
import { timeline } from './timeline.ts';

export interface Demo {
  /** Addresses to sign in to the console with. */
  readonly team: { readonly owner: string; readonly admin: string; readonly member: string };
  readonly house: House;
  /** A person who visits Harbour every other day. */
  readonly regularId: string;
}

export interface SeedOptions {
  /** Percent of people and visits: fewer are created faster. */
  readonly size?: number;
}

const DAYS = 60;

/** @param folder is missing or empty, and is left as by a stopped server. */
export async function seedDemo(folder: string, { size = 100 }: SeedOptions = {}): Promise<Demo> {
  const endAt = Date.now() - MINUTE / 2;
  const startAt = endAt - DAYS * DAY;
  const random = chance(20_260_302);
  const past = await openPast(folder, { startAt, endAt, ownerEmail: TEAM.owner.email, random });
  const share = (count: number) => Math.max(8, Math.round((count * size) / 100));
  const time = timeline(past, startAt, endAt);
  const console = team(past);
  const house = await build(past, console, time);

  const all = makePeople(random, share(235) + share(40) + share(24) + share(30));
  const take = (count: number) => all.splice(0, share(count));
  const shoppers: Crowd = gather(past, time, () => house.applications.harbour, {
    people: take(235),
    visits: share(1250),
    sinceDays: DAYS - 1,
    onArrival: settleIn(past, house),
  });
  moveIn(past, console, house, time, take(40));
  const crew = makePeople(chance(9), 12).map((person) => ({ ...person, email: `${person.latin}@harbour.example` }));
  gather(past, time, () => house.applications.staff, { people: crew, visits: share(160), sinceDays: 50 });
  beta(past, console, house, time, { crew, guests: take(24) });
  gather(past, time, () => house.applications.beacon, { people: take(30), visits: share(150), sinceDays: 26 });
  usage(past, house, time, shoppers, DAYS - 2);
  moderate(past, console, house, time, shoppers);
  await time.play();

  await past.close();
  const [regular] = shoppers.visitors;
  if (!regular) throw new Error('nobody came');
  const emails = { owner: TEAM.owner.email, admin: TEAM.admin.email, member: TEAM.member.email };
  return { team: emails, house, regularId: regular.userId };
}
