/** What happens in the demo, each at its time; what happens may lead to more later on. */
import { DAY, HOUR, MINUTE } from '../../src/core/clock.ts';
import type { Past } from './past.ts';

export interface Timeline {
  readonly startAt: number;
  readonly endAt: number;
  /** What would be past the end does not happen. */
  at(time: number, scene: () => Promise<unknown>): void;
  /** So many days before the end, at a time of that day in UTC. */
  daysAgo(days: number, hour: number, scene: () => Promise<unknown>): void;
  /** Lets everything happen in its order. */
  play(): Promise<void>;
}

interface Scene {
  readonly time: number;
  readonly run: () => Promise<unknown>;
}

/** Webhooks are tried again on time where it can be seen. */
const WATCHED_MS = 5 * HOUR;
const TICK_MS = MINUTE;

export function timeline(past: Past, startAt: number, endAt: number): Timeline {
  const scenes: Scene[] = [];
  const today = endAt - (endAt % DAY);

  function at(time: number, run: () => Promise<unknown>): void {
    if (time < startAt || time > endAt) return;
    let index = scenes.length;
    while (index > 0 && scenes[index - 1]!.time < time) index -= 1;
    scenes.splice(index, 0, { time, run });
  }

  for (let tick = endAt - WATCHED_MS; tick < endAt; tick += TICK_MS) at(tick, async () => {});

  return {
    startAt,
    endAt,
    at,
    daysAgo: (days, hour, scene) => at(today - days * DAY + hour * HOUR, scene),
    async play() {
      // The next stands last, where it is taken cheaply.
      for (let scene = scenes.pop(); scene; scene = scenes.pop()) {
        past.moveTo(scene.time);
        await scene.run();
        await past.deliver();
      }
      past.moveTo(endAt);
    },
  };
}
