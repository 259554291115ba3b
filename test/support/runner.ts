/**
 * A minimal test runner: starts instances, prints the ready line of each, then waits to be killed.
 * Arguments: the binary, the instances' standard input, and the flags of each instance as JSON.
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
