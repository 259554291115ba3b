/**
 * Fetches through the guard in a separate process, since proxies and trusted authorities are read from the
 * environment once. Takes URLs as arguments; every name resolves to 127.0.0.1. Prints one JSON line of outcomes.
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
