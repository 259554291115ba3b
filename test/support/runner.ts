/**
 * A test runner reduced to what an instance sees of one: starts instances, tells of each what it said when ready, and then
 * waits to be killed. Arguments: the binary, what the instances get as standard input, and the flags of each, as JSON.
 */
const [binary = '', stdin = 'ignore', ...instances] = process.argv.slice(2);

for (const flags of instances) {
  const child = Bun.spawn([binary, 'serve', '--ephemeral', ...(JSON.parse(flags) as string[])], {
    stdin: stdin as 'pipe' | 'ignore' | 'inherit',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const ready = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  process.stdout.write(`${JSON.stringify({ ...ready, pid: child.pid })}\n`);
}
process.stdout.write('all are ready\n');
setInterval(() => {}, 1000);
