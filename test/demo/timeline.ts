/** The scheduled scenes of the demo; a scene may schedule later ones. */
import { DAY, HOUR, MINUTE } from '../../src/core/clock.ts';
import type { Past } from './past.ts';

export interface Timeline {
  readonly startAt: number;
  readonly endAt: number;
  /** Ignores scenes after the end. */
  at(time: number, scene: () => Promise<unknown>): void;
  /** Schedules a scene some days before the end, at an hour in UTC. */
  daysAgo(days: number, hour: number, scene: () => Promise<unknown>): void;
  /** Runs all scenes in order. */
  play(): Promise<void>;
}

interface Scene {
  readonly time: number;
  readonly run: () => Promise<unknown>;
}

/** Webhooks are retried on time in the visible period. */
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
      // The next scene is last, where removing it is cheap.
      for (let scene = scenes.pop(); scene; scene = scenes.pop()) {
        past.moveTo(scene.time);
        await scene.run();
        await past.deliver();
      }
      past.moveTo(endAt);
    },
  };
}
