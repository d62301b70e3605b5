// Machines for a rate, and the rate of machines.

import { figure } from "../charts/figure";
import { lineChart } from "../charts/line";
import { foreign, h, section } from "../dom";
import { capital, count, counted, interval, list, money, NOT_KNOWN, rate, sentence, share, whole } from "../format";
import type { DayDocument, FleetDocument, GrowthDocument, PlanCostDocument, PlanDocument, TierPlanDocument } from "../generated/page";
import { number, table, text } from "../table";
import { limitName } from "../words";

function needs(tiers: readonly TierPlanDocument[]): HTMLElement {
  return table("Machines of each tier", {
    columns: [text("tier"), number("machines"), number("interval"), number("with a spare"), text("decided by"), number("used most")], count: tiers.length,
    row: (index) => {
      const tier = tiers[index];
      const first = tier?.needs[0];
      return tier === undefined ? [] : [tier.tier, `${tier.at_least ? "≥ " : ""}${whole(tier.machines)}`, interval(tier.machines_interval, whole),
        whole(tier.machines_with_spare), first === undefined ? NOT_KNOWN : limitName(first.limit), share(first?.used_most)];
    },
  });
}

function stops(growth: GrowthDocument): HTMLElement {
  return table("What stops growth with the measured machines", {
    columns: [text("tier"), text("resource"), number("machines"), number("used"), number("full at"), number("95 % interval")], count: growth.stops.length,
    row: (index) => {
      const stop = growth.stops[index];
      return stop === undefined ? [] : [stop.tier, `${limitName(stop.limit)}${stop.detail === "" ? "" : ` ${stop.detail}`}`, whole(stop.machines), share(stop.used),
        rate(stop.at_per_sec), interval(stop.at_per_sec_interval, count)];
    },
  });
}

function day(found: DayDocument): HTMLElement {
  const at = found.hours.map((_, index) => index);
  const peak = found.hours.reduce((best, hour) => ((hour.peak_per_sec ?? 0) > (best?.peak_per_sec ?? 0) ? hour : best), found.hours[0]);
  return figure(lineChart, {
    name: "day", title: "Machines of each hour", height: 220,
    caption: peak === undefined ? "The curve has no hour." : `The hour with the highest rate is ${peak.hour}, with ${rate(peak.peak_per_sec)}.`,
    x: at, xFormat: (value) => found.hours[value ?? -1]?.hour ?? "", xLabel: "hour", format: count,
    series: found.tiers.map((tier, index) => ({
      label: tier.tier, values: found.hours.map((hour) => hour.machines[index] ?? null), colour: ["--blue", "--teal", "--purple", "--gold"][index % 4] ?? "--blue", points: true,
    })),
    table: {
      columns: [text("hour"), number("highest rate"), ...found.tiers.map((tier) => number(tier.tier))], count: found.hours.length,
      row: (index) => { const hour = found.hours[index]; return hour === undefined ? [] : [hour.hour, rate(hour.peak_per_sec), ...found.tiers.map((_, at2) => whole(hour.machines[at2] ?? null))]; },
    },
  }).element;
}

function price(cost: PlanCostDocument): string {
  const amount = money(cost.currency, cost.currency_leads);
  // Where a tier may need more machines, all of them may cost more.
  const least = cost.tiers.some((tier) => tier.at_least) ? "≥ " : "";
  return `They cost ${least}${amount(cost.per_hour)} per hour: ${least}${amount(cost.per_million)} per million requests.`;
}

export function machines(found: PlanDocument): HTMLElement {
  const known = found.tiers.filter((tier) => tier.machines !== null)
    .map((tier) => `${tier.at_least ? "at least " : ""}${counted(tier.machines ?? 0, "machine")} of ${tier.tier}`);
  const { cost, growth } = found;
  return section("machines", "Machines", h("p", { class: "lead" }, foreign(known.length === 0 ? "The number of machines is not known." : `${rate(found.target_per_sec)} need ${list(known)}, each used up to ${share(found.utilisation)}.`)),
    cost === null ? null : h("p", {}, foreign(price(cost))),
    needs(found.tiers),
    found.what_if === null ? null : h("h3", { class: "part" }, foreign(`With ${found.what_if.change}`)),
    found.what_if === null ? null : needs(found.what_if.tiers),
    found.day === null ? null : day(found.day),
    growth === null || growth.stops.length === 0 ? null : h("h3", { class: "part" }, "Where growth stops with the measured machines"),
    growth === null || growth.stops.length === 0 ? null : stops(growth),
    ...[...found.remarks, ...found.tiers.flatMap((tier) => tier.doubts)].map((one) => h("p", { class: "note" }, foreign(sentence(capital(one))))));
}

export function fleet(found: FleetDocument): HTMLElement {
  const { capacity, what_if: changed } = found;
  const of = capacity.machines.map((tier) => `${counted(tier.machines ?? 0, "machine")} of ${tier.tier}`);
  const holds = (one: FleetDocument["capacity"]): string => `${one.at_most ? "at most " : ""}${rate(one.per_sec)}${one.per_sec_interval === null ? "" : ` (95 % interval ${interval(one.per_sec_interval, count)})`}`;
  return section("machines", "The rate of given machines", h("p", { class: "lead" }, foreign(`${list(of)} hold ${holds(capacity)}.`)),
    changed === null ? null : h("p", {}, foreign(`With ${changed.change}: ${holds(changed.capacity)}.`)));
}
