/** Takes back the databases of each test and of each file once it has ended, for the next one. */
import { afterAll, afterEach, beforeEach } from 'bun:test';
import { ENGINE } from './engine.ts';

// Loaded on demand: files without a database load it for nothing.
if (ENGINE === 'postgres') {
  const { postgresDatabases } = await import('./postgres-instances.ts');
  takeBack(postgresDatabases);
} else {
  const { sqliteDatabases } = await import('./sqlite-instances.ts');
  takeBack(sqliteDatabases);
}

function takeBack({ beginTest, endLeases }: { beginTest(): void; endLeases(of: 'test' | 'file'): Promise<void> }) {
  beforeEach(beginTest);
  afterEach(() => endLeases('test'));
  afterAll(() => endLeases('file'));
}
