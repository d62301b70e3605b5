//! What is found in whole runs, made up so that the truth is known.

#[cfg(test)]
mod capacity;
#[cfg(test)]
mod confidence;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod dependency;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod generator;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod key_figures;
#[cfg(test)]
mod level;
#[cfg(test)]
mod locks;
mod machine;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod objective;
mod overload;
#[cfg(test)]
mod profiled;
#[cfg(test)]
mod proof;
#[cfg(test)]
mod queues;
#[cfg(test)]
mod ramp;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod rows;
mod search;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod table;
#[cfg(test)]
mod timeline;
#[cfg(test)]
mod topology;
#[cfg(test)]
mod used_up;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod watched;
