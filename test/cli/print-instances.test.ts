/** `gatehouse print compose --postgres` and `print kubernetes`: several instances on PostgreSQL. */
import { describe, expect, test } from 'bun:test';
import { KNOWN_VARIABLES } from '@/settings.ts';
import { VERSION } from '@/version.ts';
import { printed, runPrint } from './printed.ts';

const [compose, kubernetes, dockerfile] = await Promise.all([
  printed('compose', {}, ['--postgres']),
  printed('kubernetes'),
  printed('dockerfile'),
]);

test('the compose file on PostgreSQL names only existing settings', () => {
  const named = [...compose.matchAll(/\bGATEHOUSE_[A-Z0-9_]+/g)].map(([name]) => name);
  expect(named.filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
});

describe('the compose file on PostgreSQL', () => {
  interface Service extends Record<string, unknown> {
    readonly image: string;
    readonly environment: Record<string, string>;
    readonly secrets: string[];
    readonly networks: string[];
    readonly depends_on: Record<string, { condition: string }>;
  }
  const { services, configs, networks, volumes, secrets } = Bun.YAML.parse(compose) as {
    services: Record<string, Service>;
    configs: Record<string, { content: string }>;
    networks: Record<string, { internal?: boolean } | null>;
    volumes: Record<string, unknown>;
    secrets: Record<string, { file: string }>;
  };
  const instances = Object.keys(services).filter((name) => name.startsWith('gatehouse'));
  const upstreams = () => /reverse_proxy (.*) \{/.exec(configs['caddyfile']?.content ?? '')?.[1];

  test('has two equal instances, without a data folder, and the proxy forwards to both', () => {
    const [first, second] = instances.map((name) => ({ ...services[name], depends_on: null }));
    expect(instances).toHaveLength(2);
    expect(second).toEqual(first!);
    expect(first).toMatchObject({ image: `gatehouse:${VERSION}`, read_only: true, cap_drop: ['ALL'] });
    expect(first).not.toHaveProperty('volumes');
    expect(dockerfile).not.toContain('GATEHOUSE_DATA=');
    expect(upstreams()).toBe(instances.map((name) => `${name}:8080`).join(' '));
  });

  test('gives secrets as files that exist by the commands above, never in the environment', () => {
    for (const { environment, secrets: used = [] } of Object.values(services)) {
      const files = Object.entries(environment ?? {}).filter(([name]) => name.endsWith('_FILE'));
      expect(files.map(([, path]) => path.replace('/run/secrets/', '')).toSorted()).toEqual(used.toSorted());
      expect(JSON.stringify(environment ?? {})).not.toMatch(/postgres:\/\/|_(?:PASSWORD|KEY|URL)":"(?!https:)[^/]/);
    }
    for (const [name, { file }] of Object.entries(secrets)) {
      expect(file).toBe(`secrets/${name}`);
      expect(compose).toContain(`> ${file}\n`);
    }
  });

  test('starts each service when the one before is healthy', () => {
    for (const name of [...instances, 'postgres']) expect(services[name]).toHaveProperty('healthcheck.test');
    const dependencies = Object.fromEntries(
      Object.entries(services).map(([name, { depends_on }]) => [name, Object.keys(depends_on ?? {})]),
    );
    expect(dependencies).toEqual({
      'gatehouse-1': ['postgres'],
      'gatehouse-2': ['gatehouse-1'],
      caddy: ['gatehouse-1'],
      postgres: [],
    });
    for (const { depends_on } of Object.values(services))
      expect(Object.values(depends_on ?? {}).every(({ condition }) => condition === 'service_healthy')).toBeTrue();
  });

  test('keeps the database on a volume and a network of its own, and names no floating image', () => {
    // From 18 on, the image has the version's folder below this one.
    expect(services['postgres']).toMatchObject({ image: 'postgres:18', volumes: ['postgres:/var/lib/postgresql'] });
    expect(volumes).toHaveProperty('postgres');
    expect(networks['database']).toEqual({ internal: true });
    expect(services['caddy']?.networks).toEqual(['front']);
    for (const { image } of Object.values(services)) expect(image).toMatch(/:\d/);
  });

  test('leaves the proxy’s file system writable, since Compose writes its configuration there', () => {
    expect(services['caddy']).not.toHaveProperty('read_only');
  });

  test.skipIf(Bun.which('caddy') === null)('has a configuration that Caddy accepts', async () => {
    const child = Bun.spawn(['caddy', 'adapt', '--validate', '--adapter', 'caddyfile', '--config', '/dev/stdin'], {
      stdin: new Blob([configs['caddyfile']?.content ?? '']),
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const said = await new Response(child.stderr).text();
    expect([await child.exited, said]).toEqual([0, expect.any(String)]);
  });

  test('is refused for a file that has no such form', async () => {
    const { exitCode, stdout, stderr } = await runPrint(['nginx', '--postgres']);
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining('for compose only')]);
  });
});

describe('the Kubernetes manifest', () => {
  // biome-ignore lint: each test reads the part that it checks.
  const objects = kubernetes.split(/^---$/m).map((text) => Bun.YAML.parse(text) as any);
  const [deployment, service, budget] = objects;
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  const name = { 'app.kubernetes.io/name': 'gatehouse' };

  test('has a Deployment, and a Service and a PodDisruptionBudget that select its pods', () => {
    expect(objects.map(({ kind, apiVersion }) => `${kind} ${apiVersion}`)).toEqual([
      'Deployment apps/v1',
      'Service v1',
      'PodDisruptionBudget policy/v1',
    ]);
    expect(deployment.spec.template.metadata.labels).toMatchObject(name);
    expect(deployment.spec.selector.matchLabels).toEqual(name);
    expect(service.spec.selector).toEqual(name);
    expect(budget.spec.selector.matchLabels).toEqual(name);
    expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  });

  test('replaces instances without one missing, and gives a stop the server’s time', () => {
    expect(deployment.spec).toMatchObject({
      replicas: 2,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    });
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 10);
    expect(budget.spec.maxUnavailable).toBe(1);
  });

  test('probes readiness and life apart, and waits for an upgrade', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    expect(startupProbe.httpGet.path).toBe('/healthz');
    expect(readinessProbe.httpGet.path).toBe('/readyz');
    expect(livenessProbe.httpGet.path).toBe('/healthz');
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(600);
  });

  test('gives no root privileges, no writable file system and no access to the cluster', () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).toMatchObject({ requests: { memory: '256Mi' }, limits: { memory: '768Mi' } });
  });

  test('gives no variables of Services, which the server would refuse as settings', () => {
    expect(pod.enableServiceLinks).toBeFalse();
  });

  test('takes secrets from files of a Secret that the command above makes', () => {
    const { mountPath } = container.volumeMounts[0];
    const files = container.env.filter(({ name: variable }: { name: string }) => variable.endsWith('_FILE'));
    expect(pod.volumes[0].secret.secretName).toBe('gatehouse');
    expect(files).toHaveLength(2);
    for (const { value } of files) expect(kubernetes).toContain(`--from-file=${value.slice(mountPath.length + 1)}`);
  });

  test('has an Ingress in a comment, for the same Service', () => {
    const commented = kubernetes.split(/^# ---$/m)[1] ?? '';
    // biome-ignore lint: as above.
    const ingress = Bun.YAML.parse(commented.replace(/^# ?/gm, '')) as any;
    expect(ingress).toMatchObject({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' });
    const [{ host, http }] = ingress.spec.rules;
    expect(host).toBe('auth.example.com');
    expect(http.paths[0].backend.service).toEqual({ name: service.metadata.name, port: { name: 'http' } });
  });
});
