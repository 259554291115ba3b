/** Test tools of ephemeral instances: captured mail, and a clock that can be advanced. */
import type { Module, World } from '../module.ts';
import { type TestToolDependencies, testToolRoutes } from './routes.ts';

export type TestTools = Omit<TestToolDependencies, 'db'>;

export function testToolsModule({ db }: World, tools: TestTools): Module {
  return { operations: testToolRoutes({ db, ...tools }) };
}
