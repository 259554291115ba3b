/** The visitors of a demo application: few at weekends, more every week, at working hours. */
import { DAY, HOUR } from '../../src/core/clock.ts';
import type { SoftPasskey } from '../support/authenticator.ts';
import type { DemoApplication } from './house.ts';
import type { Past, Signed } from './past.ts';
import type { Person } from './people.ts';
import type { Timeline } from './timeline.ts';

/** A person who has come at least once, with their newest session. */
export interface Visitor extends Signed {
  readonly passkey?: SoftPasskey;
}

export interface Crowd {
  /** The visitors in the order of their first visit. */
  readonly visitors: readonly Visitor[];
}

export interface CrowdPlan {
  readonly people: readonly Person[];
  /** The number of sign-ins, including refused ones. */
  readonly visits: number;
  /** Days before the end at which the first visitor comes. */
  readonly sinceDays: number;
  /** Runs after a person's first visit. @returns the person for later visits. */
  readonly onArrival?: (signed: Signed) => Promise<Visitor>;
}

/** Factors from Sunday on. */
const WEEKDAYS = [0.42, 1.02, 1.1, 1.08, 1.05, 0.92, 0.48];
const FIRST_HOUR = 5;
const LAST_HOUR = 22;
/** Out of a hundred visits. */
const MISTYPED = 4;
const GIVEN_UP = 1;
const TOO_LATE = 1;
/** Percent of people with a passkey. */
const WITHOUT_PASSKEY = 20;
/** Longer than a code is valid. */
const TOO_LATE_SECONDS = 700;

export function gather(past: Past, time: Timeline, application: () => DemoApplication, plan: CrowdPlan): Crowd {
  const { random } = past;
  const { people, visits, sinceDays, onArrival } = plan;
  const visitors: Visitor[] = [];
  const waiting = [...people];

  /** Returns a time of the day, most often around noon. */
  function timeOn(day: number): number {
    const middle = (random.next() + random.next() + random.next()) / 3;
    return day + (FIRST_HOUR + middle * (LAST_HOUR - FIRST_HOUR)) * HOUR;
  }

  async function arrive(): Promise<void> {
    const person = waiting.shift();
    if (!person) return comeBack();
    const signed = await past.signIn(person, application().clientId, mishap());
    // A refused person retries on another day.
    if (!signed) return time.at(past.now() + DAY * random.whole(1, 3), () => enter(person));
    await welcome(signed);
  }

  async function enter(person: Person): Promise<void> {
    const signed = await past.signIn(person, application().clientId);
    if (signed) await welcome(signed);
  }

  async function welcome(signed: Signed): Promise<void> {
    visitors.push(onArrival ? await onArrival(signed) : signed);
  }

  /** Picks early visitors most often. */
  async function comeBack(): Promise<void> {
    if (visitors.length === 0) return;
    const index = Math.floor(random.next() * random.next() * visitors.length);
    const { person, passkey } = visitors[index]!;
    const { clientId } = application();
    if (passkey === undefined || random.percent(WITHOUT_PASSKEY)) {
      const signed = await past.signIn(person, clientId, mishap());
      if (signed) visitors[index] = { ...visitors[index]!, ...signed };
    } else {
      const signed = await past.signInByPasskey(person, passkey, clientId);
      if (signed) visitors[index] = { ...signed, passkey };
    }
  }

  function mishap() {
    if (random.percent(GIVEN_UP)) return { mistakes: 5 };
    if (random.percent(TOO_LATE)) return { afterSeconds: TOO_LATE_SECONDS };
    return random.percent(MISTYPED) ? { mistakes: 1 } : {};
  }

  const today = time.endAt - (time.endAt % DAY);
  const days = Array.from({ length: sinceDays + 1 }, (_, index) => {
    const day = today - (sinceDays - index) * DAY;
    const growth = 0.45 + (0.75 * index) / sinceDays;
    const weight = growth * WEEKDAYS[new Date(day).getUTCDay()]! * (0.85 + 0.3 * random.next());
    return { day, weight };
  });
  const all = days.reduce((sum, { weight }) => sum + weight, 0);
  for (const { day, weight } of days) {
    const newcomers = (people.length * weight) / all;
    for (let left = newcomers; left > 0; left -= 1) if (random.next() < left) time.at(timeOn(day), arrive);
    const others = Math.round(((visits - people.length) * weight) / all);
    for (let made = 0; made < others; made += 1) time.at(timeOn(day), comeBack);
  }
  return { visitors };
}
