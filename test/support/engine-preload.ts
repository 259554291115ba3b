/** Takes back the databases of each test and of each file once it has ended, for the next one. */
import { afterAll, afterEach, beforeEach } from 'bun:test';
import { ENGINE } from './engine.ts';

// Loaded on demand: files without a database load it for nothing.
if (ENGINE === 'postgres') {
  const { beginTest, endLeases } = await import('./postgres-instances.ts');
  beforeEach(beginTest);
  afterEach(() => endLeases('test'));
  afterAll(() => endLeases('file'));
}
