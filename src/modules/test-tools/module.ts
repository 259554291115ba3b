/** What only an ephemeral instance offers: its captured mail, and its clock to be moved. */
import type { Module, World } from '../module.ts';
import { type TestToolDependencies, testToolRoutes } from './routes.ts';

export type TestTools = Omit<TestToolDependencies, 'db'>;

export function testToolsModule({ db }: World, tools: TestTools): Module {
  return { operations: testToolRoutes({ db, ...tools }) };
}
