import type { CodeChallenges } from '../codes/code-challenge.ts';
import type { Module, ModuleContext } from '../module.ts';
import { lifecycleRoutes } from './routes.ts';
import { lifecycleService } from './service.ts';

export function lifecycleModule({ db }: ModuleContext, { challenges }: { challenges: CodeChallenges }): Module {
  return { operations: lifecycleRoutes(lifecycleService({ db, challenges })) };
}
