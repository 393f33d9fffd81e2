//! The role that each method asks for, from the protocol's files. Part of the build script too.

use protox::prost_reflect::{DescriptorPool, Value};

/// Path and role of each method of the services that `wanted` chooses by their package: 0 if it names none.
pub fn methods(pool: &DescriptorPool, wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, i32)>, String> {
    let option = pool
        .get_extension_by_name("kairos.hub.v1.role")
        .ok_or("the protocol has no option `role`")?;
    let mut found = Vec::new();
    for service in pool.services().filter(|service| wanted(service.package_name())) {
        for method in service.methods() {
            let path = format!("/{}/{}", service.full_name(), method.name());
            let role = match *method.options().get_extension(&option) {
                Value::EnumNumber(role) => role,
                _ => 0,
            };
            found.push((path, role));
        }
    }
    Ok(found)
}
