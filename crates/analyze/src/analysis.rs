//! Computes the findings of a run.

use plimsoll_plan::{LadderSteps, Load, Plan, UnreadablePlan};
use plimsoll_record::{CorruptHistogram, Frame, Run, Step};
use plimsoll_stats::usl;

use crate::hosts::tracks::{self, Hosts, StepSamples};
use crate::hosts::{topology, usage};
use crate::load::knee::{deciding, knee, usable};
use crate::load::slo::Reach;
use crate::load::{slo, summary};
use crate::observations::{Case, Observations};
use crate::parts::{self, Intervention};
use crate::{
    Findings, GeneratorHealth, Limit, NotRun, Resource, StepSummary, Topology, UslFit, Verdict, chosen_step,
    overload, proof, search, verdict,
};

/// A run that cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    #[error(transparent)]
    Plan(#[from] UnreadablePlan),
    #[error("step {step}: {source}")]
    Histogram { step: u32, source: CorruptHistogram },
}

/// Computes all findings of a run. A pure function of the run.
///
/// # Errors
/// When the stored plan or a histogram cannot be read.
pub fn analyze(run: &Run) -> Result<Findings, AnalyzeError> {
    let plan = Plan::from_json(&run.manifest.plan)?;
    let load = parts::without_repeated(parts::without_held(run), &plan);
    let of_step = |(step, source)| AnalyzeError::Histogram { step, source };
    let mut searched = search::of_run(&load, &plan).map_err(of_step)?;
    let mut findings = findings_of_load(&parts::of_load(&plan, &load))?;
    let held = parts::held(run).map(|step| summarize(run, &findings.plan, step));
    findings.profiled = held.collect::<Result<_, _>>()?;
    let closed_per_sec = findings.best_step().map_or(0.0, |(_, step)| step.throughput.value);
    if let (Some(searched), Some(check)) = (&mut searched, &findings.slo) {
        let served_per_sec = check.throughput_within.map(|within| within.value);
        searched.outage =
            served_per_sec.and_then(|per_sec| search::outage(&load, &findings.steps, per_sec, searched));
    }
    findings.slo = findings.slo.map(|check| search::judged(&plan, check, searched.as_ref(), closed_per_sec));
    findings.overload = overload::of_run(&load, &plan, searched.as_ref()).map_err(of_step)?;
    findings.search = searched;
    Ok(findings)
}

/// The findings of the load without search and overloads; after an intervention during the run, with the proof.
fn findings_of_load(load: &Run) -> Result<Findings, AnalyzeError> {
    let Some(intervention) = Intervention::find(load) else { return analyze_load(load) };
    let mut findings = analyze_load(&intervention.before(load))?;
    let again = analyze_load(&intervention.after(load))?;
    proof::apply_proof(&mut findings, &intervention.outcome, &again);
    Ok(findings)
}

/// The findings of a load without an intervention.
fn analyze_load(run: &Run) -> Result<Findings, AnalyzeError> {
    let plan = Plan::from_json(&run.manifest.plan)?;
    let steps = run.steps.iter().map(|step| summarize(run, &plan, step)).collect::<Result<Vec<_>, _>>()?;
    let ladder = matches!(plan.load, Load::Ladder { .. });
    let knee = knee(&steps).filter(|_| ladder);
    let usl = ladder.then(|| fit(&steps));
    let deciding = deciding(&steps, knee.as_ref(), ladder);
    let generator = deciding.map_or_else(GeneratorHealth::default, |index| steps[index].generator.clone());
    let growing = ladder && !knee.is_some_and(|knee| knee.reached);
    let slo = slo::check(&plan.slo, &steps, Reach { healthy: generator.healthy(), growing });
    let case = Case { plan: &plan, steps: &steps, knee: knee.as_ref(), generator: &generator };
    let (topology, resources, verdict) = judged(run, &case);
    let lower_bound =
        !generator.healthy() || verdict.limit == Limit::Generator || verdict.is_shared_with_generator();
    let not_run = not_run(run, &plan);
    let mut findings = Findings {
        plan,
        steps,
        generator,
        knee,
        usl,
        slo,
        topology,
        resources,
        verdict,
        lower_bound,
        not_run,
        profiled: Vec::new(),
        search: None,
        overload: None,
    };
    mark_lower_bound(&mut findings);
    Ok(findings)
}

/// Marks the step of the short answer if the answer is a lower bound, which may follow from the verdict alone.
fn mark_lower_bound(findings: &mut Findings) {
    let chosen = chosen_step(findings).map(|step| step.index).filter(|_| findings.lower_bound);
    findings
        .steps
        .iter_mut()
        .filter(|step| Some(step.index) == chosen)
        .for_each(|step| step.lower_bound = true);
}

/// The steps of a ladder that exceed the limits of the machine.
fn not_run(run: &Run, plan: &Plan) -> Vec<NotRun> {
    let (Load::Ladder { steps: LadderSteps::Fixed(steps), .. }, Some(allowed)) =
        (&plan.load, run.manifest.machine.lowered_to)
    else {
        return Vec::new();
    };
    let beyond = steps.iter().filter(|connections| !allowed.allows(**connections));
    beyond.map(|connections| NotRun { connections: *connections, allowed }).collect()
}

/// The topology, the use of resources, and the verdict.
fn judged(run: &Run, case: &Case<'_>) -> (Topology, Vec<Resource>, Verdict) {
    let hosts = Hosts::new(run);
    let spans = tracks::spans(run, case.steps);
    let machine_cores = f64::from(run.manifest.machine.limits.cores);
    let samples = StepSamples { hosts: &hosts, spans: &spans, machine_cores };
    let flow = topology::walk::flow(run, case.plan, &samples);
    let resources = usage::resources(&samples, case.steps, &flow);
    let verdict = verdict::of_run(case, &Observations::from_run(case, &samples, &resources, &flow));
    (flow.topology(), resources, verdict)
}

fn summarize(run: &Run, plan: &Plan, step: &Step) -> Result<StepSummary, AnalyzeError> {
    let frames: Vec<&Frame> = run.frames_of(step.index).collect();
    summary::summarize(run, plan, step, &frames)
        .map_err(|source| AnalyzeError::Histogram { step: step.index, source })
}

fn fit(steps: &[StepSummary]) -> UslFit {
    let point = |step: &&StepSummary| usl::Point {
        size: f64::from(step.connections),
        throughput: step.throughput.value,
        interval: step.throughput.interval,
    };
    usl::fit(&usable(steps).iter().map(point).collect::<Vec<_>>())
}
