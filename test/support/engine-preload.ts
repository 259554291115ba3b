/** Closes the databases of each test and of each file once it has ended: they take connections and memory of the server. */
import { afterAll, afterEach, beforeEach } from 'bun:test';
import { ENGINE } from './engine.ts';

if (ENGINE === 'postgres') {
  const { beginTest, closeDatabases } = await import('./postgres-instances.ts');
  beforeEach(beginTest);
  afterEach(() => closeDatabases('test'));
  afterAll(() => closeDatabases('file'));
}
