/** Test tools of ephemeral instances: captured mail, and a clock that can be advanced. */
import type { Module, ModuleContext } from '../module.ts';
import { type TestToolDependencies, testToolRoutes } from './routes.ts';

export type TestTools = Omit<TestToolDependencies, 'db'>;

export function testToolsModule({ db }: ModuleContext, tools: TestTools): Module {
  return { operations: testToolRoutes({ db, ...tools }) };
}
