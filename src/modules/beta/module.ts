/** Access before an application is open to all: its gate, and who has asked to be let in. */
import type { Module, World } from '../module.ts';
import { interestLimit } from './interest-limit.ts';
import { betaRoutes } from './routes.ts';
import { betaService } from './service.ts';
import { decidePending, launch } from './trails.ts';

export function betaModule({ db, limiter, limits }: World): Module {
  return {
    operations: betaRoutes(betaService(db), interestLimit(limiter, limits)),
    kinds: [decidePending, launch],
  };
}
