/**
 * Fetches through the guard in a process of its own, for what a process reads from its environment once: proxies and
 * trusted authorities. Takes the URLs as arguments; every name leads to 127.0.0.1. Prints one JSON line of outcomes.
 */
import { BlockList } from 'node:net';
import { guardedFetch, OutboundError } from '../../src/outbound/guarded-fetch.ts';

export type ChildOutcome = number | string;

const get = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true, resolve: async () => ['127.0.0.1'] });
const outcomes: ChildOutcome[] = [];
for (const url of process.argv.slice(2))
  try {
    outcomes.push((await get({ url, method: 'GET', timeoutMs: 5000, maxBytes: 1000 })).status);
  } catch (error) {
    outcomes.push(error instanceof OutboundError ? error.problem : String(error));
  }
console.log(JSON.stringify(outcomes));
