/** Child processes that end with this one, also when it fails or is interrupted. */

const running = new Set<Bun.Subprocess>();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

/** Returns the child, which is killed at the exit of this process at the latest. */
export function owned<Child extends Bun.Subprocess>(child: Child): Child {
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}
