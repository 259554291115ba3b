/** The database engine of this run: SQLite, unless `GATEHOUSE_TEST_ENGINE=postgres`. */
export const ENGINE = process.env['GATEHOUSE_TEST_ENGINE'] === 'postgres' ? 'postgres' : 'sqlite';
