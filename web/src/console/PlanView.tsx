import type { Plan, PlanNode } from './types';

// PlanView shows the operators of a plan, each below the one that it feeds.
export function PlanView({ plan }: { plan: Plan }) {
  return (
    <div className="plan">
      <small>
        On generation <code>{plan.generation}</code>, with the rows that the role {plan.role} sees.
      </small>
      <ul>
        {plan.plan.map((n, i) => (
          <Operator key={i} node={n} />
        ))}
      </ul>
    </div>
  );
}

function Operator({ node }: { node: PlanNode }) {
  const info = Object.entries(node.extra_info ?? {}).map(([k, v]) => `${k}: ${Array.isArray(v) ? v.join(', ') : String(v)}`);
  return (
    <li>
      <b>{node.name.trim()}</b> {info.length > 0 && <span className="quiet">{info.join('; ')}</span>}
      {node.children && node.children.length > 0 && (
        <ul>
          {node.children.map((c, i) => (
            <Operator key={i} node={c} />
          ))}
        </ul>
      )}
    </li>
  );
}
